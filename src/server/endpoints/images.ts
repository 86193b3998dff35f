import { readGeneration, writeReply } from "../../dialects/images/index.ts";
import type { ImageRequest } from "../../domain/image.ts";
import { rateHeaders } from "../../gateway/admission/limits.ts";
import type { DeliverySettings } from "../../gateway/delivery/images.ts";
import type { Heart } from "../../gateway/heart.ts";
import { answerImages } from "../../gateway/images.ts";
import { readJsonBody } from "../body.ts";
import type { AdmittedExchange } from "../exchange.ts";
import { idHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";
import { visitOf } from "../visit.ts";

const MOST_BYTES = 800 * 1024 * 1024;

export interface ImageEndpoints extends Heart, DeliverySettings {
  /** The base address for links in the answer to a request. */
  baseOf(exchange: AdmittedExchange): string;
}

/** The synchronous image endpoints. */
export function imageRoutes(endpoints: ImageEndpoints): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/images/generations",
      name: "images.generations",
      family: "images",
      door: "key",
      scope: "ai:image",
      answer: async (exchange) => {
        const body = await readJsonBody(exchange.request, MOST_BYTES);
        return answer(endpoints, exchange, readGeneration(body));
      },
    },
  ];
}

async function answer(
  endpoints: ImageEndpoints,
  exchange: AdmittedExchange,
  request: ImageRequest,
): Promise<Response> {
  const { delivery, asked, rate } = await answerImages(
    endpoints,
    visitOf(exchange),
    request,
    endpoints.baseOf(exchange),
  );
  const count = delivery.images.length;
  const headers: Record<string, string> = {
    ...idHeaders(exchange.event.requestId),
    ...rateHeaders(rate, "chat"),
    "content-type": "application/json",
    "x-gateway-generated-images": String(count),
  };
  if (count < asked) headers["x-image-count-degraded"] = `${count}/${asked}`;
  if (request.ignored.length > 0) headers["x-gateway-ignored-params"] = headerList(request.ignored);
  return new Response(writeReply(delivery, Math.floor(exchange.event.at / 1000)), { headers });
}

/** Caller-chosen names made safe for a header: bounded, and only visible ASCII. */
function headerList(names: readonly string[]): string {
  return names
    .slice(0, 32)
    .map((name) => encodeURIComponent(name).slice(0, 64))
    .join(", ");
}
