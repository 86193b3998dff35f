import { isStreamedObject, type StreamedObject } from "../../lib/json-spool.ts";
import type { Spool } from "../../lib/spool.ts";
import { imageOf, readImageJson } from "../transport/image-json.ts";
import { MAX_RESULTS, fulfilledOf, type FetchResult } from "../transport/result-link.ts";

/** A response of the images protocol, `{data: [{b64_json} | {url}], …}`, with its pictures in the spool. */
export interface ImageList {
  parsed: StreamedObject;
  /** The objects of `data`; undefined when the response has no such list. */
  items: StreamedObject[] | undefined;
  /**
   * The pictures of these items in order, links fetched; items without one are left out. A picture that fails is
   * left out too. Throws `broken`, or the signal's reason, when none succeeded.
   */
  pictures(items: readonly StreamedObject[], fetchResult: FetchResult): Promise<Blob[]>;
}

/** Reads such a response, its pictures into `spool`. Throws `broken` where it is something else or was cut. */
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

/** Empty for an item without a picture. */
function readPicture(
  { b64_json: base64, url }: StreamedObject,
  fetchLinked: (link: string) => Promise<Blob>,
): Promise<Blob>[] {
  if (base64) return [Promise.try(() => imageOf(base64) ?? new Blob([]))];
  return typeof url === "string" && url !== "" ? [fetchLinked(url)] : [];
}
