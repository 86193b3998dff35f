import { isStreamedObject, type StreamedObject } from "../../lib/json-spool.ts";
import type { Spool } from "../../lib/spool.ts";
import { imageOf, readImageJson } from "../transport/image-json.ts";
import { MAX_RESULTS, fulfilledOf, type FetchResult } from "../transport/result-link.ts";

/**
 * A response of the images protocol, `{data: [{b64_json} | {url}], …}`. Its large pictures in base64 are in the spool.
 */
export interface ImageList {
  parsed: StreamedObject;
  /** The objects of `data`; undefined when the response has no such list. */
  items: StreamedObject[] | undefined;
  /**
   * Returns the pictures of the first `MAX_RESULTS` items in order; links are fetched. Leaves out items without a
   * picture and pictures that fail. When all pictures fail, throws the error of the first one.
   */
  pictures(items: readonly StreamedObject[], fetchResult: FetchResult): Promise<Blob[]>;
}

/**
 * Reads a response of the images protocol. Stores large pictures in `spool`. Throws `broken` for a response that is no
 * JSON object, or the signal's reason.
 */
export async function readImageList(
  response: Response,
  spool: Spool,
  signal: AbortSignal,
): Promise<ImageList> {
  const parsed = await readImageJson(response, spool, signal);
  const { data } = parsed;
  return {
    parsed,
    items: Array.isArray(data) ? data.filter(isStreamedObject) : undefined,
    async pictures(items, fetchResult) {
      const fetchLinked = (link: string) => fetchResult(link, spool, signal);
      const first = items.slice(0, MAX_RESULTS);
      return await fulfilledOf(first.flatMap((item) => readPicture(item, fetchLinked)));
    },
  };
}

/** Reads a picture. Returns an empty list for an item without a picture. */
function readPicture(
  { b64_json: base64, url }: StreamedObject,
  fetchLinked: (link: string) => Promise<Blob>,
): Promise<Blob>[] {
  if (base64) return [Promise.try(() => imageOf(base64) ?? new Blob([]))];
  return typeof url === "string" && url !== "" ? [fetchLinked(url)] : [];
}
