import { DependencyError, type BlobStore } from "../../gateway/ports.ts";
import { isBlobName, mimeTypeOf, newBlobName } from "./name.ts";
import type { BlobInventory } from "./retention.ts";

/**
 * Blobs as objects of an S3-compatible bucket, all under one prefix, which nothing else should share.
 * `get` reads the whole object: a picture is small, and a lazy reference would answer with a redirect.
 */
export function openS3Store(place: S3Place, credentials: S3Credentials): BlobStore & BlobInventory {
  const { prefix, ...options } = place;
  const client = new Bun.S3Client({ ...options, ...credentials });
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

/** Where the blobs are. */
export interface S3Place {
  bucket: string;
  /** Empty, or ending in a slash. */
  prefix: string;
  endpoint?: string;
  region?: string;
  virtualHostedStyle: boolean;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const PAGE = 500;
const LONGEST_CALL_MS = 60_000;
const PARAMETERS: ReadonlySet<string> = new Set(["endpoint", "region", "style"]);

/**
 * Reads `s3://bucket/prefix?endpoint=https://…&region=…&style=path|virtual`; all but the bucket may be left out.
 * Throws a `RangeError` that says what is wrong, never repeating the address.
 */
export function readS3Place(address: string): S3Place {
  const url = URL.parse(address);
  if (url?.protocol !== "s3:" || !url.hostname) throw new RangeError("a blob address is s3://bucket/prefix");
  if (url.username || url.password) throw new RangeError("a blob address holds no credentials");
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown) throw new RangeError(`a blob address has no parameter ${JSON.stringify(unknown)}`);
  const endpoint = url.searchParams.get("endpoint") ?? undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new RangeError("the endpoint of a blob address is an http or https address");
  const style = url.searchParams.get("style") ?? "path";
  if (style !== "path" && style !== "virtual")
    throw new RangeError("the style of a blob address is path or virtual");
  const prefix = decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, "");
  return {
    bucket: url.hostname,
    prefix: prefix ? `${prefix}/` : "",
    endpoint,
    region: url.searchParams.get("region") ?? undefined,
    virtualHostedStyle: style === "virtual",
  };
}

/** The client itself would wait without end. */
async function translated<T>(work: Promise<T>): Promise<T> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), LONGEST_CALL_MS);
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
