import decoderPath from "@imagemagick/magick-wasm/magick.wasm" with { type: "file" };
import { threadScript } from "../lib/program-files.ts";
import { createSemaphore } from "../lib/semaphore.ts";
import { untilAborted, withDeadline } from "../lib/waiting.ts";
import { UNDECODABLE, UnreadableImageError, type ImageHeader } from "./header-reader.ts";

/**
 * Decodes a picture that the built-in codec cannot read or decodes incorrectly: HEIC, AVIF, TIFF, unusual BMP and CMYK
 * JPEG. Returns an uncompressed PNG without applying the Exif orientation. Runs in a separate thread with limits for
 * pixels, memory and time. Throws an `UnreadableImageError`.
 */
export async function decodeForeign(image: Blob, { signal, ...limits }: ForeignOptions): Promise<Blob> {
  using _turn = await TURNS.acquire(signal);
  const bytes = await image.bytes();
  const thread = new Worker(threadScript("src/imaging/foreign-worker.ts"));
  try {
    const decoding = withDeadline(
      MAX_MS,
      replyOf(thread, { bytes, ...limits }),
      () => new Error("takes too long"),
    );
    const reply = await (signal ? untilAborted(decoding, signal) : decoding);
    if ("png" in reply) return new Blob([reply.png]);
    throw new Error(reply.problem);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new UnreadableImageError(UNDECODABLE, { cause });
  } finally {
    thread.terminate();
  }
}

export type ForeignFormat = Exclude<ImageHeader["format"], "png" | "webp" | "gif">;

/** The message to the thread. */
export interface ForeignRequest {
  decoder: WebAssembly.Module;
  bytes: Uint8Array<ArrayBuffer>;
  format: ForeignFormat;
  /** True when a picture without a profile has the colours of Display P3. Otherwise its colours are sRGB. */
  isDisplayP3?: boolean | undefined;
  /** Limits of the decoded picture, in pixels. `maxEdge` is the maximum width and height. */
  maxEdge: number;
  maxPixels: number;
}

/** The only reply that the thread sends. */
export type ForeignReply = { png: Uint8Array<ArrayBuffer> } | { problem: string };

interface ForeignOptions extends Omit<ForeignRequest, "decoder" | "bytes"> {
  signal?: AbortSignal;
}

/** The process decodes only one picture at a time, because a large picture takes up to a gigabyte of memory. */
const TURNS = createSemaphore(1);
const MAX_MS = 60_000;

async function replyOf(thread: Worker, request: Omit<ForeignRequest, "decoder">): Promise<ForeignReply> {
  const decoder = await compiledDecoder();
  const { promise, resolve, reject } = Promise.withResolvers<ForeignReply>();
  thread.onmessage = ({ data }: MessageEvent<ForeignReply>) => resolve(data);
  thread.onerror = ({ message }) => reject(new Error(message));
  thread.postMessage({ decoder, ...request } satisfies ForeignRequest, [request.bytes.buffer]);
  return await promise;
}

let compiled: Promise<WebAssembly.Module> | null = null;

/**
 * Returns the compiled code of the decoder. Compiles it only once, on first use, because compiling takes longer than
 * decoding a small picture.
 */
function compiledDecoder(): Promise<WebAssembly.Module> {
  compiled ??= compileDecoder().catch((error: unknown) => {
    compiled = null;
    throw error;
  });
  return compiled;
}

async function compileDecoder(): Promise<WebAssembly.Module> {
  return await WebAssembly.compile(await Bun.file(new URL(decoderPath, import.meta.url)).bytes());
}
