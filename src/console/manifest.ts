import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** Where the bundled page is kept. */
export const DIRECTORY = resolve(import.meta.dir, "../../dist/console");
export const MANIFEST = "manifest.json";

/** What a build consists of. */
export interface Manifest {
  /** Of the sources that it was built from. */
  version: string;
  /** Name of the page's file. */
  page: string;
  files: Record<string, { type: string; bytes: number; compressed: number; tag: string }>;
}

/** A hash of everything that the bundle is made of. */
export async function versionOfSources(): Promise<string> {
  const root = resolve(import.meta.dir, "../..");
  const names = [...new Bun.Glob("src/console/**/*.{ts,tsx,css,html,json}").scanSync(root)].sort();
  const hash = createHash("sha256");
  for (const name of [...names, "package-lock.json"]) {
    hash.update(`${name}\n`).update(await readFile(join(root, name)));
  }
  return hash.digest("hex");
}
