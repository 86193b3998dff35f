import { splitJson, writePieces } from "../../lib/json-spool.ts";

/**
 * Writes a JSON request with pictures as base64. Only a part of the base64 is in memory at any time. `write` returns
 * the value of the request. It calls `base64(blob)` for the text of a picture. This text may be a whole string of the
 * value, or a part of a longer string such as a `data:` URL. A body without blobs is a string.
 */
export function writeJsonBody(write: (base64: (blob: Blob) => string) => unknown): JsonBody {
  const pieces = splitJson((base64) => JSON.stringify(write(base64)));
  const lengths = pieces.map((piece) => {
    return piece instanceof Blob ? 4 * Math.ceil(piece.size / 3) : piece.byteLength;
  });
  const [first] = pieces;
  const isPlain = pieces.length === 1 && first instanceof Uint8Array;
  return {
    byteLength: lengths.reduce((sum, length) => sum + length, 0),
    body: isPlain ? first.toString() : writePieces(pieces),
  };
}

export interface JsonBody {
  byteLength: number;
  /** The body, which can be read once. A piece is valid until the next piece is requested. */
  body: string | AsyncGenerator<Uint8Array>;
}
