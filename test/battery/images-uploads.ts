import { connect, type Socket } from "node:net";
import { makePng } from "../support/pictures.ts";

/** Size of the largest allowed reference. */
export const REFERENCE_BYTES = 36_700_160;

const PIECE = Buffer.from(crypto.getRandomValues(new Uint8Array(3 * 65_536)));
const PIECE_TEXT = Buffer.from(PIECE.toString("base64"));

export interface Upload {
  url: string;
  key: string;
  model: string;
  form: "multipart" | "json";
  references: number;
  referenceBytes: number;
  prompt?: string;
  /** Bytes per second; unlimited when absent. */
  pace?: number;
  onProgress?(written: number): void;
}

/**
 * Sends an edit with large references, in pieces and on its own socket. Returns status, body and the number of sent
 * bytes.
 */
export async function uploadEdit(upload: Upload): Promise<{ status: number; body: string; sent: number }> {
  const { hostname, port } = new URL(upload.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const response = readResponse(socket);
  const contentType = upload.form === "json" ? "application/json" : "multipart/form-data; boundary=edge";
  const pieces = upload.form === "json" ? jsonPieces(upload) : formPieces(upload);
  const length = [...(upload.form === "json" ? jsonPieces(upload) : formPieces(upload))].reduce(
    (sum, piece) => sum + piece.byteLength,
    0,
  );
  const head = [
    "POST /v1/images/edits HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${upload.key}`,
    `content-type: ${contentType}`,
    `content-length: ${length}`,
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const startedAt = performance.now();
  let sent = 0;
  for (const piece of pieces) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await drained(socket);
    sent += piece.byteLength;
    upload.onProgress?.(sent);
    const dueMs =
      upload.pace === undefined ? 0 : (sent / upload.pace) * 1000 - (performance.now() - startedAt);
    if (dueMs > 1) await Bun.sleep(dueMs);
  }
  return { ...(await response), sent };
}

/** A complete picture whose base64 needs no padding characters. Decoders ignore the bytes after the picture's end. */
const PICTURE = paddedToThree(makePng(1024, 1024, { pixel: () => [40, 80, 120, 255] }));

function paddedToThree(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((3 - (bytes.length % 3)) % 3)]);
}

function* formPieces({ model, prompt = "join them", references, referenceBytes }: Upload): Generator<Buffer> {
  const field = (name: string, value: string) =>
    `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  yield Buffer.from(field("model", model) + field("prompt", prompt));
  for (let index = 0; index < references; index += 1) {
    yield Buffer.from('--edge\r\nContent-Disposition: form-data; name="image[]"; filename="a.png"\r\n\r\n');
    yield PICTURE;
    yield* repeat(PIECE, referenceBytes - PICTURE.byteLength);
    yield Buffer.from("\r\n");
  }
  yield Buffer.from("--edge--\r\n");
}

function* jsonPieces({ model, prompt = "join them", references, referenceBytes }: Upload): Generator<Buffer> {
  yield Buffer.from(JSON.stringify({ model, prompt }).slice(0, -1) + ',"images":[');
  for (let index = 0; index < references; index += 1) {
    yield Buffer.from(`${index > 0 ? "," : ""}"data:image/png;base64,`);
    yield Buffer.from(PICTURE.toString("base64"));
    const rest = referenceBytes - PICTURE.byteLength;
    yield* repeat(PIECE_TEXT, Math.floor(rest / 3) * 4);
    yield Buffer.from(`${PIECE.subarray(0, rest % 3).toString("base64")}"`);
  }
  yield Buffer.from("]}");
}

function* repeat(piece: Buffer, byteLength: number): Generator<Buffer> {
  for (let rest = byteLength; rest > 0; rest -= piece.byteLength) yield piece.subarray(0, rest);
}

async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Reads a response. Status 0 means that the connection ended without a response. */
function readResponse(socket: Socket): Promise<{ status: number; body: string }> {
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on("data", (bytes: Buffer) => pieces.push(bytes));
    socket.on("error", () => {});
    socket.on("close", () => {
      const text = Buffer.concat(pieces).toString("utf8");
      const split = text.indexOf("\r\n\r\n");
      resolve({ status: Number(text.slice(9, 12)), body: split < 0 ? "" : text.slice(split + 4) });
    });
  });
}
