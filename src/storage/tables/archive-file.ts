import { createReadStream } from "node:fs";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import type { LedgerArchive } from "../../admin/ledger/store-port.ts";
import { type LedgerEntry, readEntry } from "../../domain/ledger.ts";
import { toColumn } from "../database/expressions.ts";

/** Number and sums of the entries in a file. */
export type EntrySums = Pick<LedgerArchive, "entries" | "sums">;

export function addEntry(total: EntrySums, { currency, kind, amount }: LedgerEntry): void {
  const sums = (total.sums[currency] ??= {});
  sums[kind] = (sums[kind] ?? 0n) + amount;
  total.entries += 1;
}

/**
 * Writes entries as gzipped JSON lines, with money as decimal strings of nano-units. Returns the file's SHA-256. The
 * file gets its final name only when it is complete and on the disk.
 */
export async function writeEntries(path: string, pages: AsyncIterable<LedgerEntry[]>): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const partial = `${path}.partial`;
  const file = await open(partial, "w", 0o600);
  try {
    // Several gzip files in a row are one valid gzip file, so each page is compressed by itself.
    for await (const entries of pages) {
      const page = Bun.gzipSync(entries.map((entry) => `${toColumn(entry)}\n`).join(""));
      hasher.update(page);
      await file.writeFile(page);
    }
    await file.datasync();
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await moveInPlace(partial, path);
  return hasher.digest("hex");
}

/** Renames a complete file, so that the name survives a loss of power. */
async function moveInPlace(partial: string, path: string): Promise<void> {
  await rename(partial, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Reads the entries of a file, in pages. */
export async function* readEntries(path: string, pageSize: number): AsyncGenerator<LedgerEntry[]> {
  const lines = createInterface({ input: createReadStream(path).pipe(createGunzip()), crlfDelay: Infinity });
  let page: LedgerEntry[] = [];
  for await (const line of lines) {
    page.push(readEntry(JSON.parse(line)));
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

export async function fileHash(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of createReadStream(path)) hasher.update(chunk);
  return hasher.digest("hex");
}

/** The description of a file, stored next to it. `isRemoved`: the file's entries were removed from the ledger. */
export interface ArchiveManifest extends LedgerArchive {
  isRemoved: boolean;
}

export async function writeManifest(path: string, manifest: ArchiveManifest): Promise<void> {
  const partial = `${path}.partial`;
  await writeFile(partial, `${toColumn(manifest)}\n`, { mode: 0o600, flush: true });
  await moveInPlace(partial, path);
}

/** Reads the description of a file; null when there is none. */
export async function readManifest(path: string): Promise<ArchiveManifest | null> {
  try {
    const { sums, ...manifest } = JSON.parse(await readFile(path, "utf8"));
    return { ...manifest, sums: readSums(sums) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function readSums(written: Record<string, Record<string, string>>): LedgerArchive["sums"] {
  const currencies = Object.entries(written).map(([currency, kinds]) => [
    currency,
    Object.fromEntries(Object.entries(kinds).map(([kind, sum]) => [kind, BigInt(sum)])),
  ]);
  return Object.fromEntries(currencies);
}
