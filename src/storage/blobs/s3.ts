import { DependencyError } from "../../gateway/ports.ts";
import type { S3Address } from "../../lib/s3-address.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { isBlobName, mimeTypeOf } from "./name.ts";
import type { NamedStore } from "./named-store.ts";

/**
 * Blobs as objects of an S3-compatible bucket, all under one prefix, which nothing else should share.
 * `get` reads the complete object: a picture is small, and a lazy reference would respond with a redirect.
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
/** A client waits for it, and there is the local disk. */
const MAX_WRITE_MS = 20_000;

/** The S3 client itself would wait without end. */
async function translated<T>(work: Promise<T>, maxMs = MAX_CALL_MS): Promise<T> {
  try {
    return await withDeadline(maxMs, work, () => new Error("no response in time"));
  } catch (cause) {
    throw new DependencyError("the object storage is unavailable", { cause });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
