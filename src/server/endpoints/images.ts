import { readEdit, readGeneration, writeReply, type ImageField } from "../../dialects/images/index.ts";
import type { ImageRequest } from "../../domain/image.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import { answerImages, type ImageHeart, type ImageOutcome } from "../../gateway/images.ts";
import type { AdmittedExchange } from "../exchange.ts";
import { readImageBody } from "../image-body.ts";
import { idHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";
import { answerFromSpool, type SpoolPlace } from "../spooled-answer.ts";
import { visitOf } from "../visit.ts";

export type ImageEndpoints = ImageHeart & {
  spools: SpoolPlace;
  /** The base address for links in the answer to a request. */
  baseOf(exchange: AdmittedExchange): string;
};

/** The synchronous image endpoints. */
export function imageRoutes(endpoints: ImageEndpoints): Route[] {
  const common = { method: "POST", family: "images", door: "key", scope: "ai:image" } as const;
  return [
    {
      ...common,
      path: "/v1/images/generations",
      name: "images.generations",
      answer: (exchange: AdmittedExchange) => answer(endpoints, exchange, false, readGeneration),
    },
    {
      ...common,
      path: "/v1/images/edits",
      name: "images.edits",
      answer: (exchange: AdmittedExchange) =>
        answer(endpoints, exchange, true, (fields) => readEdit(fields, isTrue(exchange.request))),
    },
  ];
}

/** `x-input-image-compress: true`, exactly. */
function isTrue({ headers }: Request): boolean {
  return headers.get("x-input-image-compress") === "true";
}

function answer(
  endpoints: ImageEndpoints,
  exchange: AdmittedExchange,
  takesForms: boolean,
  read: (fields: readonly ImageField[]) => Promise<ImageRequest>,
): Promise<Response> {
  return answerFromSpool(endpoints.spools, exchange.request, async (spool) => {
    const request = await read(await readImageBody(exchange.request, spool, takesForms));
    const base = endpoints.baseOf(exchange);
    const outcome = await answerImages(endpoints, visitOf(exchange), request, { base, spool });
    const headers = imageHeaders(exchange, outcome);
    if (request.ignored.length > 0) headers["x-gateway-ignored-params"] = headerList(request.ignored);
    return { body: writeReply(outcome.delivery, Math.floor(exchange.event.at / 1000)), headers };
  });
}

/** What every synchronous answer with pictures says in its headers. */
export function imageHeaders(
  { event }: AdmittedExchange,
  { delivery, asked, rate }: ImageOutcome,
): Record<string, string> {
  const count = delivery.images.length;
  const headers: Record<string, string> = {
    ...idHeaders(event.requestId),
    ...rateHeaders(rate, "chat"),
    "content-type": "application/json",
    "x-gateway-generated-images": String(count),
  };
  if (count < asked) headers["x-image-count-degraded"] = `${count}/${asked}`;
  return headers;
}

/** Caller-chosen names made safe for a header: bounded, and only visible ASCII. */
function headerList(names: readonly string[]): string {
  return names
    .slice(0, 32)
    .map((name) => encodeURIComponent(name.toWellFormed()).slice(0, 64))
    .join(", ");
}
