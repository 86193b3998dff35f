import { DependencyError, type BlobStore } from "../../gateway/ports.ts";
import type { S3Address } from "../../lib/s3-address.ts";
import { isBlobName, mimeTypeOf, newBlobName } from "./name.ts";
import type { BlobInventory } from "./retention.ts";

/**
 * Blobs as objects of an S3-compatible bucket, all under one prefix, which nothing else should share.
 * `get` reads the whole object: a picture is small, and a lazy reference would answer with a redirect.
 */
export function openS3Store({ prefix, ...options }: S3Address): BlobStore & BlobInventory {
  const client = new Bun.S3Client(options);
  const keyOf = (name: string) => prefix + name;
  return {
    async put(image, format) {
      const name = newBlobName(format);
      await translated(client.write(keyOf(name), image, { type: mimeTypeOf(name) }));
      return { name };
    },

    async get(name) {
      if (!isBlobName(name)) return null;
      try {
        const bytes = await translated(client.file(keyOf(name)).arrayBuffer());
        return new Blob([bytes], { type: mimeTypeOf(name) });
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
          .map(({ key, lastModified }) => ({
            name: key.slice(prefix.length),
            storedAt: Date.parse(lastModified ?? "") || Infinity,
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

const PAGE = 500;
const MAX_CALL_MS = 60_000;
/** The client itself would wait without end. */
async function translated<T>(work: Promise<T>): Promise<T> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), MAX_CALL_MS);
  try {
    return await Promise.race([work, deadline]);
  } catch (error) {
    throw unavailable(error);
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(cause: unknown): DependencyError {
  return new DependencyError("the object storage did not answer as it should", { cause });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
