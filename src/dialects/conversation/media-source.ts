import type { MediaSource } from "./request.ts";

const DATA_URL = /^data:([^;,]+)(?:;[^,]*)?;base64,/i;
/** Maximum length of a `data:` URL's beginning, before the data. */
const MAX_HEAD = 200;

/** Reads the address of media: an `https:` link or a `data:` URL with base64 (RFC 2397); null for other values. */
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
