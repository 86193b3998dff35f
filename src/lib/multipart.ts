import { LongString, LongStringError, type SpooledString } from "./json-spool/long-string.ts";
import type { Spool, SpoolFile } from "./spool.ts";
import { readBoundary, readPartHeader, type PartHeader } from "./multipart/header.ts";
import { MultipartError } from "./multipart/error.ts";
import { MultipartSource } from "./multipart/source.ts";

export { MultipartError } from "./multipart/error.ts";

/**
 * One part of a form. A text value over 64 KiB is on disk. The bytes on disk are decoded if `decode` returned true and
 * the text is base64.
 */
export type MultipartPart =
  | { kind: "text"; name: string; value: string | SpooledString }
  | { kind: "file"; name: string; fileName: string; type: string; blob: Blob; byteLength: number }
  | { kind: "skipped"; name: string };

export interface MultipartOptions {
  /** Returns true for a field to read. The content of other fields is skipped, whatever its size. */
  reads(name: string): boolean;
  /** Returns true when a long text value of this field is an image, to be decoded from a `data:` URL or base64. */
  decode(name: string): boolean;
  maxBodyBytes: number;
  maxFileBytes: number;
  /**
   * Maximum size of a text value on disk. For a field for which `decode` returns true, the maximum is `maxFileBytes`.
   */
  maxTextBytes: number;
  /** Maximum size of all text values that are kept in memory, together. */
  maxTextTotalBytes: number;
  maxFields: number;
  maxFiles: number;
  /** Maximum size of one part's header. */
  maxHeaderBytes: number;
}

const DEFAULTS: MultipartOptions = {
  reads: () => true,
  decode: () => false,
  maxBodyBytes: 800 * 1024 * 1024,
  maxFileBytes: 36_700_160,
  maxTextBytes: 1024 * 1024,
  maxTextTotalBytes: 4 * 1024 * 1024,
  maxFields: 100,
  maxFiles: 64,
  maxHeaderBytes: 16 * 1024,
};
const TEXT_IN_MEMORY_BYTES = 64 * 1024;

// No package is used, for speed and strictness: this reader reads 900 to 950 MB/s, busboy 210 to 230. This reader also
// refuses forms that two parsers could read differently.

/**
 * Reads a `multipart/form-data` body in constant memory. Frees the buffer of each chunk that it has read. Files are
 * written to disk while they arrive; parts stay in order. Throws a `MultipartError` when the body is malformed,
 * incomplete or over a limit.
 */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  spool: Spool,
  options: Partial<MultipartOptions> = {},
): Promise<MultipartPart[]> {
  const settings = { ...DEFAULTS, ...options };
  const source = new MultipartSource(body, readBoundary(contentType), settings.maxBodyBytes);
  try {
    return await readParts(source, spool, settings);
  } finally {
    await source.close();
  }
}

async function readParts(
  source: MultipartSource,
  spool: Spool,
  settings: MultipartOptions,
): Promise<MultipartPart[]> {
  const parts: MultipartPart[] = [];
  const counts = { file: 0, text: 0, textBytes: 0 };
  await source.skipPreamble();
  while (!(await source.isAtEnd())) {
    const header = readPartHeader(await source.readHeader(settings.maxHeaderBytes));
    counts[header.kind] += 1;
    if (counts.file > settings.maxFiles || counts.text > settings.maxFields)
      throw new MultipartError("too_many_parts", header.name);
    if (!settings.reads(header.name)) {
      await source.readContent(() => {});
      parts.push({ kind: "skipped", name: header.name });
    } else if (header.kind === "file") parts.push(await readFile(source, header, spool, settings));
    else {
      const value = await readText(source, header.name, spool, settings);
      if (typeof value === "string") counts.textBytes += value.length;
      if (counts.textBytes > settings.maxTextTotalBytes) throw new MultipartError("too_large", header.name);
      parts.push({ kind: "text", name: header.name, value });
    }
  }
  return parts;
}

async function readFile(
  source: MultipartSource,
  header: Extract<PartHeader, { kind: "file" }>,
  spool: Spool,
  settings: MultipartOptions,
): Promise<MultipartPart> {
  const file: SpoolFile = spool.create();
  await source.readContent((bytes) => {
    if (file.byteLength + bytes.byteLength > settings.maxFileBytes)
      throw new MultipartError("too_large", header.name);
    file.write(bytes);
    return file.ready();
  });
  const blob = await file.finish();
  return { ...header, blob, byteLength: file.byteLength };
}

async function readText(
  source: MultipartSource,
  name: string,
  spool: Spool,
  settings: MultipartOptions,
): Promise<string | SpooledString> {
  const pieces: Buffer[] = [];
  let length = 0;
  let long: LongString | undefined;
  try {
    await source.readContent((bytes) => {
      length += bytes.byteLength;
      if (length > TEXT_IN_MEMORY_BYTES && !long) {
        long = startLong(name, spool, settings);
        for (const piece of pieces.splice(0)) long.write(piece);
      }
      if (!long) return void pieces.push(Buffer.from(bytes));
      long.write(bytes);
      return long.ready();
    });
    if (long) return await long.finish();
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch (error) {
    throw translate(error, name);
  }
}

function startLong(name: string, spool: Spool, settings: MultipartOptions): LongString {
  const decode = settings.decode(name);
  const maxBytes = decode ? settings.maxFileBytes : settings.maxTextBytes;
  return new LongString(spool, { decode, maxBytes, allowsControls: true });
}

function translate(error: unknown, name: string): unknown {
  if (error instanceof TypeError) return new MultipartError("invalid_text", name);
  if (!(error instanceof LongStringError)) return error;
  if (error.reason === "too_large") return new MultipartError("too_large", name);
  return new MultipartError(error.reason === "invalid_base64" ? "invalid_base64" : "invalid_text", name);
}
