import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import type { Connection } from "../transport/connection.ts";
import { brokenResponse, type Classify } from "../transport/http.ts";
import { readImageList, type ImageList } from "../images/image-list.ts";
import { sendJson } from "../transport/json-call.ts";
import { writeRequest } from "./request.ts";

/** One call of the images protocol of family C: JSON for generations and edits, pictures back as base64. */
export async function generate(
  order: ImageOrder,
  { baseUrl, headers, classify, fetchResult }: Connection & { classify: Classify },
  signal: AbortSignal,
): Promise<ImageReply> {
  const call = { url: `${baseUrl}/images/generations`, headers, body: writeRequest(order), signal };
  const response = await sendJson("POST", call, classify);
  const list = await readImageList(response, order.spool, signal);
  const images = await list.pictures(list.items ?? [], fetchResult);
  if (images.length === 0) throw pictureless(list, response, classify);
  return { images, usage: readUsage(list.parsed["usage"]) };
}

/** The vendor tells of failures inside a success, for each picture or for the whole (Ark reference, `data[].error`). */
function pictureless({ parsed, items = [] }: ImageList, response: Response, classify: Classify): Error {
  const { status, headers } = response;
  const errors = [parsed["error"], ...items.map((item) => item["error"])].filter(isObject);
  const failures = errors.map((error) => classify({ status, headers, bodyText: JSON.stringify({ error }) }));
  // What else went wrong may go right elsewhere; a refusal counts only when there is nothing else.
  return failures.find(({ kind }) => kind !== "refused") ?? failures[0] ?? brokenResponse("gave no image");
}

/** The vendor counts no input by itself; impossible numbers count as no report. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const output = saneCount(usage["output_tokens"]);
  if (output === null) return undefined;
  const total = Math.max(output, saneCount(usage["total_tokens"]) ?? output);
  return { input: total - output, output, total };
}
