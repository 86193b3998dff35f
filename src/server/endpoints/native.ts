import { isPicturePath, readRequest, writeReply } from "../../dialects/native/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { handleImages } from "../../gateway/images.ts";
import { contextOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { readPictureJson } from "../entrance/image-body.ts";
import type { HttpRoute } from "../routes.ts";
import { respondFromSpool } from "../entrance/spooled-response.ts";
import { imageHeaders, type ImageEndpoints } from "./images.ts";
import { isEmbedding, readCall, type NativeCall } from "./native-call.ts";
import { isServerSentEvents, serveNativeEmbeddings, serveNativeText } from "./native-text.ts";

/**
 * Returns the routes of the native generate protocol. The path below `models/` exists with two versions: current
 * official clients call the stable version, older clients the beta (Google Gen AI SDK). In the beta, the AI SDK omits
 * `models/` before a name with a slash. The method decides if embeddings are requested. Otherwise the type of the
 * path's model decides between text and pictures.
 */
export function nativeRoutes(endpoints: ImageEndpoints): HttpRoute[] {
  const isCall = (parameter: string): boolean => readCall(parameter) !== null;
  return [
    { path: "/v1beta/models/{call}" },
    { path: "/v1/models/{call}" },
    { path: "/v1beta/{call}", takes: isCall },
  ].map((address) => {
    const common = {
      ...address,
      method: "POST",
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
    const embeddings: HttpRoute = {
      ...text,
      name: "native.embeddings",
      handle: (exchange: AuthenticatedExchange) => serveNativeEmbeddings(endpoints, exchange),
    };
    const routeFor: HttpRoute["routeFor"] = ({ parameter }) => {
      const call = readCall(parameter);
      if (!call || !isPossible(endpoints, call)) return pictures;
      const model = endpoints.snapshot.directory().models.get(call.model);
      const forText = isEmbedding(call) ? embeddings : text;
      // No scope is required here, because every key may learn that a model does not exist.
      if (!model) return { ...forText, scope: null };
      if (isEmbedding(call)) return embeddings;
      return model.type === "image" ? pictures : text;
    };
    return Object.assign({ routeFor }, pictures);
  });
}

async function handle(endpoints: ImageEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const call = readCall(exchange.parameter);
  if (!call || !isPossible(endpoints, call)) {
    const message = "There is nothing at this path. Call `models/{model}:generateContent`.";
    throw new GatewayError("not_found", message);
  }
  if (call.method === "countTokens") {
    const message = "This model makes pictures, which have a price each. Call `generateContent`.";
    throw new GatewayError("wrong_endpoint_for_model", message, { param: "model" });
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
    const headers = imageHeaders(exchange, outcome);
    if (call.method === "generateContent") return { body, headers };
    // The stream has only one event, because a picture is not sent in parts.
    if (!isServerSentEvents(exchange)) return { body, headers, frame: ["[", "]"] };
    return { body, headers: { ...headers, "content-type": "text/event-stream" }, frame: ["data: ", "\n\n"] };
  });
}

/** Matches a model id that can be configured. Some ids begin with the name of a vendor and a slash. */
const PLAIN_NAME = /^[A-Za-z0-9][\w.:-]*(?:\/[A-Za-z0-9][\w.:-]*)*$/;

function isPossible({ snapshot }: ImageEndpoints, { model }: NativeCall): boolean {
  return PLAIN_NAME.test(model) || snapshot.directory().models.has(model);
}
