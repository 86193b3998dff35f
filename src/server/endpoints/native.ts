import { isPicturePath, readRequest, writeReply } from "../../dialects/native/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { handleImages } from "../../gateway/images.ts";
import { contextOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { readPictureJson } from "../entrance/image-body.ts";
import type { HttpRoute } from "../routes.ts";
import { respondFromSpool } from "../entrance/spooled-response.ts";
import { imageHeaders, type ImageEndpoints } from "./images.ts";
import { readCall, type NativeCall } from "./native-call.ts";
import { serveNativeText } from "./native-text.ts";

/**
 * Routes of the native generate protocol, under both versions of its path: current official clients call the stable
 * one, earlier ones the beta (Google Gen AI SDK). The type of the model in the path decides between text and pictures.
 */
export function nativeRoutes(endpoints: ImageEndpoints): HttpRoute[] {
  return ["/v1beta/models/{call}", "/v1/models/{call}"].map((path) => {
    const common = {
      method: "POST",
      path,
      family: "native",
      auth: "key",
      keyHeaders: () => ["x-goog-api-key"],
    } as const;
    const pictures: HttpRoute = {
      ...common,
      name: "native",
      scope: "ai:image",
      pipeline: "image",
      handle: (exchange: AuthenticatedExchange) => handle(endpoints, exchange),
    };
    const text: HttpRoute = {
      ...common,
      name: "native.text",
      scope: "ai:llm",
      pipeline: "text",
      handle: (exchange: AuthenticatedExchange) => serveNativeText(endpoints, exchange),
    };
    // Any key may learn that a model does not exist.
    const unknown: HttpRoute = { ...text, scope: null };
    const routeFor: HttpRoute["routeFor"] = ({ parameter }) => {
      const call = readCall(parameter);
      if (!call || !isPossible(endpoints, call)) return pictures;
      const model = endpoints.snapshot.directory().models.get(call.model);
      if (!model) return unknown;
      return model.type === "image" ? pictures : text;
    };
    return Object.assign({ routeFor }, pictures);
  });
}

async function handle(endpoints: ImageEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const call = readCall(exchange.parameter);
  if (call?.method !== "generateContent" || !isPossible(endpoints, call)) {
    const message = "There is nothing at this path. Call `models/{model}:generateContent`.";
    throw new GatewayError("not_found", message);
  }
  return respondFromSpool(endpoints.spools, exchange, async (spool) => {
    const destination = { limits: endpoints.bodyLimits, spool };
    const content = await readPictureJson(exchange, destination, isPicturePath);
    const request = await readRequest(content, call.model);
    await exchange.claimOutcome?.(content);
    suspendIdleTimeout(exchange);
    const base = endpoints.baseOf(exchange);
    const outcome = await handleImages(endpoints, contextOf(exchange), request, { base, spool });
    const body = writeReply(outcome.delivery, exchange.requestId);
    return { body, headers: imageHeaders(exchange, outcome) };
  });
}

/** A model id without slashes; a configured one may have slashes. */
const PLAIN_NAME = /^[A-Za-z0-9][\w.:-]*$/;

function isPossible({ snapshot }: ImageEndpoints, { model }: NativeCall): boolean {
  return PLAIN_NAME.test(model) || snapshot.directory().models.has(model);
}
