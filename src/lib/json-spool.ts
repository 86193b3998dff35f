import { detachBuffer } from "./detach-buffer.ts";
import { SpooledString } from "./json-spool/long-string.ts";
import { yieldToEventLoop } from "./waiting.ts";
import type { Spool } from "./spool.ts";
import { JsonScanner } from "./json-spool/scanner.ts";
import { JsonSpoolError, type JsonSpoolOptions, type StreamedJson } from "./json-spool/options.ts";

export { SpooledString } from "./json-spool/long-string.ts";
export * from "./json-spool/options.ts";
export * from "./json-spool/write.ts";

const SLICE_BYTES = 64 * 1024;

const DEFAULTS: JsonSpoolOptions = {
  decode: () => false,
  thresholdBytes: 64 * 1024,
  maxBodyBytes: 800 * 1024 * 1024,
  maxStringBytes: 36_700_160,
  maxStrings: 64,
  maxSkeletonBytes: 8 * 1024 * 1024,
  maxValues: 20_000,
  maxDepth: 128,
};

// No package is used, because streaming parsers make a value of every token. An edit has up to 800 MiB of base64; this
// reader decodes it in constant memory, as fast as the native decoder.

/**
 * Reads a JSON body of at most `maxBodyBytes` in constant memory. String values over `thresholdBytes` become
 * `SpooledString`s on disk, decoded from base64 when `decode` returns true for their path. Detaches the chunks of the
 * body, so the caller cannot read them afterwards. Accepts what `JSON.parse` accepts, within the limits and without
 * repeated top-level keys. Throws a `JsonSpoolError` otherwise, and the errors of `decode`.
 */
export async function readSpooledJson(
  body: AsyncIterable<Uint8Array>,
  spool: Spool,
  options: Partial<JsonSpoolOptions> = {},
): Promise<StreamedJson> {
  const settings = { ...DEFAULTS, ...options };
  const scanner = new JsonScanner(spool, settings);
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (received > settings.maxBodyBytes) throw new JsonSpoolError("body_too_large");
    const data = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let from = 0; from < data.byteLength; from += SLICE_BYTES) {
      const yielded = yieldToEventLoop();
      if (yielded) await yielded;
      await scanner.scan(data.subarray(from, from + SLICE_BYTES));
    }
    detachBuffer(chunk);
  }
  const value = parseSkeleton(scanner.finish());
  return putStrings(value, scanner.placeholder, scanner.strings);
}

function parseSkeleton(skeleton: Buffer): StreamedJson {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(skeleton);
    return JSON.parse(text) as StreamedJson;
  } catch {
    throw new JsonSpoolError("invalid_json");
  }
}

/** Replaces placeholders by their strings. The scanner limits the depth, so recursion is safe. */
function putStrings(
  value: StreamedJson,
  placeholder: string,
  strings: readonly SpooledString[],
): StreamedJson {
  if (typeof value === "string" && value.startsWith(placeholder)) {
    return strings[Number(value.slice(placeholder.length))] ?? value;
  }
  if (typeof value !== "object" || value === null || value instanceof SpooledString) return value;
  for (const [key, item] of Object.entries(value)) {
    const put = putStrings(item, placeholder, strings);
    // For a key named `__proto__`, a plain assignment would change the prototype.
    if (put !== item)
      Object.defineProperty(value, key, { value: put, enumerable: true, configurable: true, writable: true });
  }
  return value;
}
