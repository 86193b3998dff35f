import { detachBuffer } from "./detach-buffer.ts";
import { SpooledString } from "./long-string.ts";
import { yieldToEventLoop } from "./waiting.ts";

/** JSON in which a `Blob`, or a spooled string that was decoded, stands for the base64 of its bytes. */
export type StreamedJson =
  null | boolean | number | string | Blob | SpooledString | StreamedJson[] | StreamedObject;

export interface StreamedObject {
  [key: string]: StreamedJson;
}

/** True for an object of the JSON, not an array, null or something that stands for a string. */
export function isStreamedObject(value: StreamedJson | undefined): value is StreamedObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !isHandle(value);
}

/** Whether anything in it stands for a string, so that it must be written in pieces. */
export function holdsHandles(value: StreamedJson): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isHandle(value) || Object.values(value).some(holdsHandles);
}

/**
 * Writes JSON in pieces, in constant memory beside the JSON's short strings: what is on disk is read, and base64 is
 * encoded, slice by slice as the reader takes it. A piece is good until the next is asked for.
 */
export async function* writeJson(value: StreamedJson): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const handles: Handle[] = [];
  // Drawn anew for each text, so that no string in it can be taken for a mark.
  const mark = `handle:${crypto.randomUUID()}:`;
  const skeleton = JSON.stringify(value, (_, item: StreamedJson) => {
    if (!isHandle(item)) return item;
    handles.push(item);
    return mark;
  });
  for (const [index, text] of skeleton.split(mark).entries()) {
    const handle = handles[index - 1];
    if (handle) yield* writeHandle(handle);
    yield Buffer.from(text);
  }
}

/** A multiple of three, so that each slice is whole in base64. */
const SLICE_BYTES = 3 * 64 * 1024;

type Handle = Blob | SpooledString;

function isHandle(value: StreamedJson): value is Handle {
  return value instanceof Blob || value instanceof SpooledString;
}

function writeHandle(handle: Handle): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (handle instanceof Blob) return writeBase64(handle);
  return handle.decoded ? writeBase64(handle.blob) : writeText(handle.blob);
}

async function* writeBase64(blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  // The size of a file is asked of the disk each time.
  const { size } = blob;
  const piece = Buffer.allocUnsafeSlow(4 * Math.ceil(Math.min(size, SLICE_BYTES) / 3));
  for (let start = 0; start < size; start += SLICE_BYTES) {
    const slice = await blob.slice(start, start + SLICE_BYTES).bytes();
    // Many readers who take slices as fast as they come would otherwise hold the event loop together.
    const paused = yieldToEventLoop();
    if (paused) await paused;
    const text = slice.toBase64();
    detachBuffer(slice);
    yield piece.subarray(0, piece.write(text, "latin1"));
  }
  detachBuffer(piece);
}

/** Escaping goes by characters, so a character that is cut by a slice waits for the next. */
async function* writeText(blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let start = 0; start < blob.size; start += SLICE_BYTES) {
    const slice = await blob.slice(start, start + SLICE_BYTES).arrayBuffer();
    const text = decoder.decode(slice, { stream: true });
    yield Buffer.from(JSON.stringify(text).slice(1, -1));
  }
}
