import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import { saneCount } from "../../domain/usage.ts";
import type { ImageUpstream } from "../../gateway/ports.ts";
import { isObject } from "../../lib/json.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { fanOut } from "../fan-out.ts";
import { brokenAnswer, post, type Classify } from "../http.ts";
import { readImageList, type ImageList } from "../image-list.ts";
import { fitReferences } from "../reference-image.ts";
import type { FetchResult } from "../result-link.ts";
import { MOST_REFERENCE_BYTES, REFERENCE_FORMATS, writeRequest } from "./request.ts";

/** Everything about a channel that is the same for each of its calls. */
export interface ArkConnection {
  url: string;
  headers: Readonly<Record<string, string>>;
  classify: Classify;
  fetchResult: FetchResult;
  /** Whether an order for several goes out as several calls, at a model that gives one image a call. */
  fansOut: boolean;
}

/** The images protocol of family C: one call in JSON for generations and edits, pictures back as base64. */
export function createImageUpstream(connection: ArkConnection): ImageUpstream {
  const slots = createSemaphore(CODEC_PLACES);
  const rules = { formats: REFERENCE_FORMATS, mostBytes: MOST_REFERENCE_BYTES };
  return {
    async draw(order, signal) {
      const references = await fitReferences(order.references, rules, slots, signal);
      const ready = { ...order, references };
      const isSingle = order.model.image.maxImagesPerCall === 1;
      if (!connection.fansOut || !isSingle) return await drawOnce(ready, connection, signal);
      const single = { ...ready, count: 1 };
      return await fanOut(order.count, (signal) => drawOnce(single, connection, signal), signal);
    },
  };
}

/** References of one channel that are encoded anew at once. */
const CODEC_PLACES = 2;

async function drawOnce(
  order: ImageOrder,
  { url, headers, classify, fetchResult }: ArkConnection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const { body, byteLength } = writeRequest(order);
  const sized = { ...headers, "content-length": String(byteLength) };
  const response = await post({ url, headers: sized, body, signal }, classify);
  const list = await readImageList(response, order.spool, signal);
  const images = await list.pictures(list.items ?? [], fetchResult);
  if (images.length === 0) throw pictureless(list, response, classify);
  return { images, usage: readUsage(list.answer["usage"]) };
}

/** The vendor tells of failures inside a success, for each picture or for the whole (Ark reference, `data[].error`). */
function pictureless({ answer, items = [] }: ImageList, response: Response, classify: Classify): Error {
  const { status, headers } = response;
  const errors = [answer["error"], ...items.map((item) => item["error"])].filter(isObject);
  const failures = errors.map((error) => classify({ status, headers, bodyText: JSON.stringify({ error }) }));
  // What else went wrong may go right elsewhere; a refusal counts only when there is nothing else.
  return failures.find(({ kind }) => kind !== "refused") ?? failures[0] ?? brokenAnswer("gave no image");
}

/** The vendor counts no input by itself; impossible numbers count as no report. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const output = saneCount(usage["output_tokens"]);
  if (output === null) return undefined;
  const total = Math.max(output, saneCount(usage["total_tokens"]) ?? output);
  return { input: total - output, output, total };
}
