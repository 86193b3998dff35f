import { createReadStream } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { listFiles } from "./archive.ts";

/** Name of the file that describes a backup. It is the first file of the archive. */
export const MANIFEST = "manifest.json";

const manifestSchema = z.object({
  format: z.literal(1),
  /** Version of the program that made the backup. */
  program: z.string(),
  madeAt: z.iso.datetime(),
  kind: z.enum(["sqlite", "postgres"]),
  /** Number of migrations that the database had. */
  migrations: z.int(),
  /** Id of the master key that decrypts the secrets of the backup; null when no key was configured. */
  masterKey: z.string().nullable(),
  ledgerEntries: z.int(),
  /** Number of charges that only the backup's journals contain. The first start after a restore posts these charges. */
  waitingCharges: z.int(),
  /** Number of differences that the verification of the ledger found when the backup was made. */
  differences: z.int(),
  pictures: z.object({ count: z.int(), bytes: z.int() }),
  files: z.record(z.string(), z.object({ bytes: z.int(), sha256: z.string() })),
});

export type BackupManifest = z.infer<typeof manifestSchema>;

/** Writes the description of a backup into the folder with the backup's files. */
export async function writeManifest(
  folder: string,
  facts: Omit<BackupManifest, "files">,
): Promise<BackupManifest> {
  const manifest = { ...facts, files: await describeFiles(folder) };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

/** Reads the description. Throws an `Error` unless the folder contains exactly the files in the description. */
export async function verifyManifest(folder: string): Promise<BackupManifest> {
  const written = await readFile(join(folder, MANIFEST), "utf8")
    .then(JSON.parse)
    .catch(() => null);
  const read = manifestSchema.safeParse(written);
  if (!read.success) throw new Error("this is no backup of this program, or one of a newer version");
  const found = await describeFiles(folder);
  const names = new Set([...Object.keys(found), ...Object.keys(read.data.files)]);
  const damaged = [...names].filter((name) => found[name]?.sha256 !== read.data.files[name]?.sha256);
  if (damaged.length > 0) throw new Error(`the backup is damaged: ${damaged.join(", ")}`);
  return read.data;
}

async function describeFiles(folder: string): Promise<BackupManifest["files"]> {
  const files: BackupManifest["files"] = {};
  for (const name of await listFiles(folder)) {
    if (name === MANIFEST) continue;
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const piece of createReadStream(join(folder, name))) hasher.update(piece);
    files[name] = { bytes: (await stat(join(folder, name))).size, sha256: hasher.digest("hex") };
  }
  return files;
}
