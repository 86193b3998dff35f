import { createHash, type Hash } from "node:crypto";
import { SpooledString } from "../../lib/json-spool.ts";

/** Returns the hexadecimal SHA-256 of the content of a request: its names, values and files. */
export async function fingerprintOf(content: unknown): Promise<string> {
  const hash = createHash("sha256");
  await add(hash, content);
  return hash.digest("hex");
}

/** Adds a value with its type and length, so that different contents never give the same bytes. */
async function add(hash: Hash, value: unknown): Promise<void> {
  if (value instanceof SpooledString) {
    await addBlob(hash, value.blob);
  } else if (value instanceof Blob) {
    await addBlob(hash, value);
  } else if (Array.isArray(value)) {
    hash.update(`list ${value.length}\n`);
    for (const item of value) await add(hash, item);
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    hash.update(`object ${entries.length}\n`);
    for (const [name, item] of entries) {
      hash.update(`${JSON.stringify(name)}\n`);
      await add(hash, item);
    }
  } else hash.update(`${JSON.stringify(value) ?? "absent"}\n`);
}

async function addBlob(hash: Hash, blob: Blob): Promise<void> {
  hash.update(`blob ${blob.size}\n`);
  for await (const piece of blob.stream()) hash.update(piece);
}
