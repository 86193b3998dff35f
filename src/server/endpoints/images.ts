import { readEdit, readGeneration, writeReply, type ImageField } from "../../dialects/images/index.ts";
import type { ImageRequest } from "../../domain/image.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import { handleImages, type ImageCore, type ImageOutcome } from "../../gateway/images.ts";
import type { BodyLimits } from "../entrance/body.ts";
import { contextOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { readImageBody } from "../entrance/image-body.ts";
import { baseHeaders, ignoredHeader } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { respondFromSpool, type SpoolOptions } from "../entrance/spooled-response.ts";

export type ImageEndpoints = ImageCore & {
  spools: SpoolOptions;
  bodyLimits: BodyLimits;
  /** Returns the base address of the links in the response. */
  baseOf(exchange: AuthenticatedExchange): string;
};

/** Returns the routes of the synchronous image endpoints. */
export function imageRoutes(endpoints: ImageEndpoints): HttpRoute[] {
  const common = {
    method: "POST",
    family: "images",
    auth: "key",
    scope: "ai:image",
    pipeline: "image",
  } as const;
  return [
    {
      ...common,
      path: "/v1/images/generations",
      name: "images.generations",
      handle: (exchange: AuthenticatedExchange) => handle(endpoints, exchange, false, readGeneration),
    },
    {
      ...common,
      path: "/v1/images/edits",
      name: "images.edits",
      handle: (exchange: AuthenticatedExchange) =>
        handle(endpoints, exchange, true, (fields) => readEdit(fields, isCompressing(exchange.request))),
    },
  ];
}

/** True only for the exact header `x-input-image-compress: true`. */
export function isCompressing({ headers }: Request): boolean {
  return headers.get("x-input-image-compress") === "true";
}

function handle(
  endpoints: ImageEndpoints,
  exchange: AuthenticatedExchange,
  takesForms: boolean,
  read: (fields: readonly ImageField[]) => Promise<ImageRequest>,
): Promise<Response> {
  return respondFromSpool(endpoints.spools, exchange, async (spool) => {
    const sent = await readImageBody(exchange, { limits: endpoints.bodyLimits, spool }, takesForms);
    const { model } = exchange;
    const fields: readonly ImageField[] =
      model === undefined ? sent : [...sent.filter(([name]) => name !== "model"), ["model", model]];
    const request = await read(fields);
    await exchange.claimOutcome?.(request.compressReferences ? ["compressed", fields] : fields);
    suspendIdleTimeout(exchange);
    const base = endpoints.baseOf(exchange);
    const outcome = await handleImages(endpoints, contextOf(exchange), request, { base, spool });
    const body = writeReply(outcome.delivery, Math.floor(exchange.at / 1000));
    return { body, headers: imageHeaders(exchange, outcome) };
  });
}

/** Returns the headers of every synchronous response with pictures. */
export function imageHeaders(
  { requestId }: AuthenticatedExchange,
  { delivery, requested, limitState, ignored }: ImageOutcome,
): Record<string, string> {
  const count = delivery.images.length;
  const headers: Record<string, string> = {
    ...baseHeaders(requestId),
    ...rateHeaders(limitState, "chat"),
    ...ignoredHeader(ignored),
    "content-type": "application/json",
    "x-gateway-generated-images": String(count),
  };
  if (count < requested) headers["x-image-count-degraded"] = `${count}/${requested}`;
  return headers;
}
