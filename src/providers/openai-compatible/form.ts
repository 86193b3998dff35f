import { BlobReader } from "../../lib/sliced-stream.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";

/** A field of a form: text, or a file with its name and type. */
export type FormPart =
  { name: string; text: string } | { name: string; blob: Blob; fileName: string; type: string };

export interface Form {
  contentType: string;
  byteLength: number;
  /**
   * Yields the form in chunks. Each file is read only when it is sent, so that a large form needs little memory. A
   * chunk is valid until the next chunk is requested.
   */
  body: AsyncGenerator<Uint8Array>;
}

const CHUNK_BYTES = 512 * 1024;
const encoder = new TextEncoder();

/**
 * Writes `multipart/form-data` (RFC 7578). Its length is known before it is sent. Names need no escaping, because all
 * names are the gateway's own and never a caller's.
 */
export function writeForm(parts: readonly FormPart[]): Form {
  const boundary = `form-${crypto.randomUUID()}`;
  const pieces: (Uint8Array | Blob)[] = [];
  for (const part of parts) {
    const open = `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"`;
    if ("text" in part) pieces.push(encoder.encode(`${open}\r\n\r\n${part.text}\r\n`));
    else {
      const header = `${open}; filename="${part.fileName}"\r\nContent-Type: ${part.type}\r\n\r\n`;
      pieces.push(encoder.encode(header), part.blob, encoder.encode("\r\n"));
    }
  }
  pieces.push(encoder.encode(`--${boundary}--\r\n`));
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    byteLength: pieces.reduce(
      (sum, piece) => sum + (piece instanceof Blob ? piece.size : piece.byteLength),
      0,
    ),
    body: readAll(pieces),
  };
}

/**
 * Yields all pieces. The chunks of a file share memory, because the runtime copies each chunk before it requests the
 * next.
 */
async function* readAll(pieces: readonly (Uint8Array | Blob)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Blob) yield* readBlob(piece);
    else yield piece;
  }
}

async function* readBlob(blob: Blob): AsyncGenerator<Uint8Array> {
  using reader = new BlobReader(blob, CHUNK_BYTES);
  for (let start = 0; start < reader.size; start += CHUNK_BYTES) {
    const yielded = yieldToEventLoop();
    if (yielded) await yielded;
    yield await reader.read(start);
  }
}
