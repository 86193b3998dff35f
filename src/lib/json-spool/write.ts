import { BlobReader } from "../sliced-stream.ts";
import { detachBuffer } from "../detach-buffer.ts";
import { yieldToEventLoop } from "../waiting.ts";
import { SpooledString } from "./long-string.ts";
import { isHandle, type Handle, type StreamedJson } from "./options.ts";

/** JSON text in pieces. A handle is written as the base64 of its bytes, or as escaped text. */
type JsonPieces = readonly (Buffer<ArrayBuffer> | Handle)[];

/**
 * Writes JSON in pieces. Handles are read and encoded slice by slice, as the reader takes the pieces. The rest of the
 * JSON is in memory. A piece is valid until the next piece is requested.
 */
export function writeJson(value: StreamedJson): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const pieces = splitJson((hold) => {
    return JSON.stringify(value, (_, item: StreamedJson) => (isHandle(item) ? hold(item) : item));
  });
  return writePieces(pieces);
}

/**
 * Splits JSON at its handles. `stringify` writes the JSON. In place of each handle, `stringify` writes the text that
 * `hold` returns: as a whole string, or inside of a longer string such as a `data:` URL.
 */
export function splitJson(stringify: (hold: (handle: Handle) => string) => string): JsonPieces {
  const handles: Handle[] = [];
  // The placeholder is random for each text, so no string of the JSON can contain it.
  const placeholder = `handle:${crypto.randomUUID()}:`;
  const skeleton = stringify((handle) => {
    handles.push(handle);
    return placeholder + String(handles.length - 1).padStart(INDEX_DIGITS, "0");
  });
  const [first = "", ...rest] = skeleton.split(placeholder);
  const pieces = rest.flatMap((text) => {
    const handle = handles[Number(text.slice(0, INDEX_DIGITS))] ?? new Blob([]);
    return [handle, Buffer.from(text.slice(INDEX_DIGITS))];
  });
  return [Buffer.from(first), ...pieces];
}

export async function* writePieces(pieces: JsonPieces): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const piece of pieces) {
    if (piece instanceof Blob) yield* writeBase64(piece);
    else if (piece instanceof SpooledString)
      yield* piece.decoded ? writeBase64(piece.blob) : writeText(piece.blob);
    else yield piece;
  }
}

const INDEX_DIGITS = 6;
/** Bytes of a blob that are encoded at once: a multiple of three, so that only the last slice has base64 padding. */
const SLICE_BYTES = 3 * 64 * 1024;

async function* writeBase64(blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using reader = new BlobReader(blob, SLICE_BYTES);
  const piece = Buffer.allocUnsafeSlow(4 * Math.ceil(Math.min(reader.size, SLICE_BYTES) / 3));
  for (let start = 0; start < reader.size; start += SLICE_BYTES) {
    // Many fast readers together would otherwise block the event loop.
    const yielded = yieldToEventLoop();
    if (yielded) await yielded;
    const text = (await reader.read(start)).toBase64();
    yield piece.subarray(0, piece.write(text, "latin1"));
  }
  detachBuffer(piece);
}

/** Writes a text handle. If a slice ends within a character, the decoder keeps the character until the next slice. */
async function* writeText(blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let start = 0; start < blob.size; start += SLICE_BYTES) {
    const slice = await blob.slice(start, start + SLICE_BYTES).arrayBuffer();
    const text = decoder.decode(slice, { stream: true });
    yield Buffer.from(JSON.stringify(text).slice(1, -1));
  }
}
