import { readImageHeader } from "../../src/imaging/sniff.ts";
import type { ImageHeader } from "../../src/imaging/header-reader.ts";

/** A picture inside a request as a `data:` URL, taken apart as a strict vendor would. */
export interface InlineImage extends ImageHeader {
  bytes: Buffer;
}

const HEADER = /^data:image\/([a-z]+);base64,/;

/** Null for anything that is no `data:` URL in lower case with whole base64 of a picture of the type it claims. */
export async function readInlineImage(url: unknown): Promise<InlineImage | null> {
  const text = typeof url === "string" ? url : "";
  const match = HEADER.exec(text);
  if (!match) return null;
  const data = text.slice(match[0].length);
  const bytes = Buffer.from(data, "base64");
  if (bytes.toString("base64") !== data) return null;
  const header = await readImageHeader(new Blob([bytes])).catch(() => null);
  return header && header.format === match[1] ? { ...header, bytes } : null;
}
