import type { MediaSource } from "./request.ts";

const DATA_URL = /^data:([^;,]+)(?:;[^,]*)?;base64,/i;
/** Longer texts are no media types. */
const MAX_HEAD = 200;

/** A media address: a link, or a `data:` URL of base64 (RFC 2397); null for anything else. */
export function readMediaUrl(url: unknown): MediaSource | null {
  if (typeof url !== "string") return null;
  if (url.startsWith("https:")) return { url };
  const head = DATA_URL.exec(url.slice(0, MAX_HEAD));
  if (!head?.[1]) return null;
  return { mediaType: head[1].toLowerCase(), data: url.slice(head[0].length) };
}

export function writeMediaUrl(source: MediaSource): string {
  return "url" in source ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
