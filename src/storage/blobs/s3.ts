import { DependencyError } from "../../gateway/dependency-error.ts";
import type { StoredPicture } from "../../gateway/delivery/stored-blobs.ts";
import type { S3Address } from "../../lib/s3-address.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { isBlobName, mimeTypeOf } from "./links.ts";
import type { NamedStore } from "./named-store.ts";

/**
 * Blobs as objects of an S3-compatible bucket, all under one prefix that nothing else should use. A picture is read in
 * pieces by range requests. So a client that stops reading occupies the memory of one piece and no connection.
 */
export function openS3Store({ prefix, ...options }: S3Address): NamedStore {
  const client = new Bun.S3Client(options);
  const keyOf = (name: string) => prefix + name;
  return {
    async write(name, image) {
      await translated(client.write(keyOf(name), image, { type: mimeTypeOf(name) }), MAX_WRITE_MS);
    },

    async get(name) {
      if (!isBlobName(name)) return null;
      try {
        const object = client.file(keyOf(name));
        const { size } = await translated(object.stat());
        const read = (start: number, end: number) => translated(object.slice(start, end).bytes());
        return picture(read, mimeTypeOf(name), { start: 0, end: size });
      } catch (error) {
        if (error instanceof DependencyError && codeOf(error.cause) === "NoSuchKey") return null;
        throw error;
      }
    },

    async *pages() {
      let startAfter = "";
      for (;;) {
        const position = startAfter ? { startAfter } : {};
        const page = await translated(client.list({ prefix, maxKeys: PAGE, ...position }));
        const contents = page.contents ?? [];
        yield contents
          .map(({ key, lastModified, size }) => ({
            name: key.slice(prefix.length),
            storedAt: Date.parse(lastModified ?? "") || Infinity,
            size: size ?? 0,
          }))
          .filter(({ name }) => isBlobName(name));
        startAfter = contents.at(-1)?.key ?? "";
        if (!page.isTruncated || !startAfter) return;
      }
    },

    async remove(name) {
      await translated(client.delete(keyOf(name)));
    },
  };
}

type ReadRange = (start: number, end: number) => Promise<Uint8Array<ArrayBuffer>>;

function picture(read: ReadRange, type: string, range: { start: number; end: number }): StoredPicture {
  const { start, end } = range;
  return {
    size: end - start,
    type,
    slice: (from, to) => picture(read, type, { start: start + from, end: Math.min(start + to, end) }),
    stream() {
      let position = start;
      return new ReadableStream(
        {
          async pull(controller) {
            try {
              const piece = await read(position, Math.min(position + PIECE_BYTES, end));
              position += piece.byteLength;
              if (piece.byteLength > 0) controller.enqueue(piece);
              if (piece.byteLength === 0 || position >= end) controller.close();
            } catch (error) {
              // The error goes to the reader of the stream: a rejection of `pull` would end the process.
              controller.error(error);
            }
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
}

/**
 * Size of the pieces in which a picture is read. Larger pieces would need more memory for clients that read slowly.
 * Smaller pieces would need more requests for each picture.
 */
const PIECE_BYTES = 512 * 1024;
const PAGE = 500;
const MAX_CALL_MS = 60_000;
/**
 * Maximum time of a write, shorter than the time of other calls. A client waits for the write, and the local disk can
 * store the picture instead.
 */
const MAX_WRITE_MS = 20_000;

/** Adds a deadline, because the S3 client would wait forever. Throws every failure as a `DependencyError`. */
async function translated<T>(work: Promise<T>, maxMs = MAX_CALL_MS): Promise<T> {
  try {
    return await withDeadline(maxMs, work, () => new Error("no response in time"));
  } catch (cause) {
    throw new DependencyError("the object storage is unavailable", { cause, dependency: "blobs" });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
