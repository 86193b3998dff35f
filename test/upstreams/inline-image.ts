import { readImageHeader } from "../../src/imaging/sniff.ts";
import type { ImageHeader } from "../../src/imaging/header-reader.ts";

/** A picture that a request contains as a `data:` URL. */
export interface InlineImage extends ImageHeader {
  bytes: Buffer;
}

const HEADER = /^data:image\/([a-z]+);base64,/;

/** Reads a `data:` URL with canonical base64 of a picture of the declared type. Returns null for any other value. */
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
