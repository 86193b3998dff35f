import { isPicturePath, readRequest, writeReply } from "../../dialects/native/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { handleImages } from "../../gateway/images.ts";
import { contextOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { readPictureJson } from "../image-body.ts";
import type { Route } from "../routes.ts";
import { respondFromSpool } from "../spooled-response.ts";
import { imageHeaders, type ImageEndpoints } from "./images.ts";

const VERB = ":generateContent";
/** A model id without slashes; a configured one may have slashes. */
const PLAIN_NAME = /^[A-Za-z0-9][\w.:-]*$/;

/**
 * The native generate protocol of family B, under both versions of its path. Current official clients call the
 * stable one, earlier ones the beta (Google Gen AI SDK).
 */
export function nativeRoutes(endpoints: ImageEndpoints): Route[] {
  return ["/v1beta/models/{call}", "/v1/models/{call}"].map((path) => ({
    method: "POST",
    path,
    name: "native",
    family: "native",
    auth: "key",
    scope: "ai:image",
    pipeline: "image",
    keyHeaders: () => ["x-goog-api-key"],
    handle: (exchange) => handle(endpoints, exchange),
  }));
}

async function handle(endpoints: ImageEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const model = readModel(endpoints, exchange.parameter);
  return respondFromSpool(endpoints.spools, exchange, async (spool) => {
    const destination = { limits: endpoints.bodyLimits, spool };
    const content = await readPictureJson(exchange, destination, isPicturePath);
    const request = await readRequest(content, model);
    await exchange.claimOutcome?.(content);
    suspendIdleTimeout(exchange);
    const base = endpoints.baseOf(exchange);
    const outcome = await handleImages(endpoints, contextOf(exchange), request, { base, spool });
    const body = writeReply(outcome.delivery, exchange.requestId);
    return { body, headers: imageHeaders(exchange, outcome) };
  });
}

/** The model in `models/{model}:generateContent`; some clients send the prefix `models/` twice. */
function readModel({ snapshot }: ImageEndpoints, call: string): string {
  const name = call.endsWith(VERB) ? call.slice(0, -VERB.length).replace(/^models\//, "") : "";
  if (PLAIN_NAME.test(name) || snapshot.directory().models.has(name)) return name;
  const message = "There is nothing at this path. Call `models/{model}:generateContent`.";
  throw new GatewayError("not_found", message);
}
