/**
 * Writes a JSON request that carries pictures as base64 without ever holding the base64: `write` builds the value,
 * with what `base64(blob)` returns as the placeholder of a blob's base64, alone or inside a longer string such as
 * a `data:` URL. A body without blobs is plain text.
 */
export function writeJsonBody(write: (base64: (blob: Blob) => string) => unknown): JsonBody {
  const blobs: Blob[] = [];
  // Random for each body, so that no prompt can contain it.
  const placeholder = `base64:${crypto.randomUUID()};`;
  const value = write((blob) => {
    blobs.push(blob);
    return placeholder + String(blobs.length - 1).padStart(INDEX_DIGITS, "0");
  });
  const [first = "", ...rest] = JSON.stringify(value).split(placeholder);
  if (rest.length === 0) return { byteLength: Buffer.byteLength(first), body: first };
  const pieces = rest.flatMap((text) => {
    const blob = blobs[Number(text.slice(0, INDEX_DIGITS))] ?? new Blob([]);
    return [blob, Buffer.from(text.slice(INDEX_DIGITS))];
  });
  const all = [Buffer.from(first), ...pieces];
  return { byteLength: all.reduce((sum, piece) => sum + sentLength(piece), 0), body: readAll(all) };
}

export interface JsonBody {
  byteLength: number;
  /** Can be read once. */
  body: string | AsyncGenerator<Uint8Array>;
}

const INDEX_DIGITS = 3;
/** A multiple of three, so that the base64 of each chunk needs no padding. */
const CHUNK_BYTES = 3 * 256 * 1024;

function sentLength(piece: Uint8Array | Blob): number {
  return piece instanceof Blob ? 4 * Math.ceil(piece.size / 3) : piece.byteLength;
}

async function* readAll(pieces: readonly (Uint8Array | Blob)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Blob) yield* encodeBase64(piece);
    else yield piece;
  }
}

async function* encodeBase64(blob: Blob): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < blob.size; start += CHUNK_BYTES) {
    const slice = await blob.slice(start, start + CHUNK_BYTES).arrayBuffer();
    yield Buffer.from(Buffer.from(slice).toString("base64"), "latin1");
  }
}
