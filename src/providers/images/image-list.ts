import { isObject } from "../../lib/json.ts";
import type { Spool } from "../../lib/spool.ts";
import { brokenResponse, parseResponse } from "../transport/http.ts";
import { extractImages, type ExtractedJson } from "../transport/extracted-json.ts";
import { MAX_RESULTS, fulfilledOf, type FetchResult } from "../transport/result-link.ts";

/** A response of the images protocol, `{data: [{b64_json} | {url}], …}`, with its base64 extracted. */
export interface ImageList {
  parsed: Record<string, unknown>;
  /** The objects of `data`; undefined when the response has no such list. */
  items: Record<string, unknown>[] | undefined;
  /** The JSON without its pictures. */
  skeleton: string;
  /**
   * The pictures of these items in order, links fetched; items without one are left out. A picture that fails is
   * left out too. Throws `broken`, or the signal's reason, when none succeeded.
   */
  pictures(items: readonly Record<string, unknown>[], fetchResult: FetchResult): Promise<Blob[]>;
}

/** Reads such a response, its pictures into `spool`. Throws `broken` where it is something else or was cut. */
export async function readImageList(
  response: Response,
  spool: Spool,
  signal: AbortSignal,
): Promise<ImageList> {
  const { json, skeleton } = await extractImages(response, spool, signal);
  const parsed = parseResponse(skeleton);
  if (!isObject(parsed)) throw brokenResponse("gave no object");
  const { data } = parsed;
  return {
    parsed,
    items: Array.isArray(data) ? data.filter(isObject) : undefined,
    skeleton,
    async pictures(items, fetchResult) {
      const fetchLinked = (link: string) => fetchResult(link, spool, signal);
      const first = items.slice(0, MAX_RESULTS);
      return await fulfilledOf(first.flatMap((item) => readPicture(item, json, fetchLinked)));
    },
  };
}

/** Empty for an item without a picture. */
function readPicture(
  { b64_json: text, url }: Record<string, unknown>,
  json: ExtractedJson,
  fetchLinked: (link: string) => Promise<Blob>,
): Promise<Blob>[] {
  if (typeof text === "string" && text !== "") return [Promise.try(() => json.image(text))];
  return typeof url === "string" && url !== "" ? [fetchLinked(url)] : [];
}
