import decoderPath from "@imagemagick/magick-wasm/magick.wasm" with { type: "file" };
import { createSemaphore } from "../lib/semaphore.ts";
import type { ImageHeader } from "./header-reader.ts";
import { pngFromThread } from "./picture-thread.ts";

/**
 * Decodes a picture that the built-in codec cannot read or decodes incorrectly: HEIC, AVIF, TIFF, unusual BMP and CMYK
 * JPEG. Returns an uncompressed PNG without applying the Exif orientation. Runs in a separate thread with limits for
 * pixels, memory and time. Throws an `UnreadableImageError`.
 */
export async function decodeForeign(image: Blob, { signal, ...limits }: ForeignOptions): Promise<Blob> {
  using _turn = await TURNS.acquire(signal);
  const decoder = await compiledDecoder();
  const request: ForeignRequest = { decoder, bytes: await image.bytes(), ...limits };
  return await pngFromThread("src/imaging/foreign-worker.ts", request, request.bytes, signal);
}

export type ForeignFormat = Exclude<ImageHeader["format"], "png" | "webp" | "gif">;

/** The message to the thread. */
export interface ForeignRequest {
  decoder: WebAssembly.Module;
  bytes: Uint8Array<ArrayBuffer>;
  format: ForeignFormat;
  /** True when a picture without a profile has the colours of Display P3. Otherwise its colours are sRGB. */
  isDisplayP3?: boolean | undefined;
  /** The limits of the decoded picture, in pixels. `maxEdge` is the maximum width and height. */
  maxEdge: number;
  maxPixels: number;
}

interface ForeignOptions extends Omit<ForeignRequest, "decoder" | "bytes"> {
  signal?: AbortSignal;
}

/** The process decodes only one such picture at a time, because a large picture takes up to a gigabyte of memory. */
const TURNS = createSemaphore(1);

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
