import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { IS_BUILT, PROGRAM_ROOT, programFolder } from "../lib/program-files.ts";

/** The folder of all builds of the page. Each build has its own folder, with its version as the name. */
export const DIRECTORY = programFolder("dist/console");

const MANIFEST = "manifest.json";

/** The files of a build. */
export interface PageManifest {
  /** Name of the page's file. */
  page: string;
  /** Hash of the script inside the page, as a source for the content security policy. */
  script: string;
  files: Record<string, BuiltFile>;
}

interface BuiltFile {
  /** Media type. */
  type: string;
  bytes: number;
  /** Size in bytes of the `.gz` file beside it. */
  compressed: number;
}

/** Returns the version of the one build that a package or an executable contains; null in a checkout. */
export async function shippedVersion(): Promise<string | null> {
  if (!IS_BUILT) return null;
  return (await readdir(DIRECTORY))[0] ?? null;
}

/** Returns a hash of the bundle's sources, including the modules that they import from other folders. */
export async function versionOfSources(): Promise<string> {
  const sources = new Bun.Glob("src/{console,admin,domain,lib}/**/*.{ts,tsx,json,css,html,svg}");
  const names = [...sources.scanSync(PROGRAM_ROOT)].filter((name) => !name.endsWith(".test.ts")).sort();
  const hash = createHash("sha256");
  for (const name of [...names, "package-lock.json"]) {
    hash.update(`${name}\n`).update(await readFile(join(PROGRAM_ROOT, name)));
  }
  return hash.digest("hex").slice(0, 20);
}

/** Returns the manifest of the build with this version; null when there is none. */
export async function readManifest(version: string): Promise<PageManifest | null> {
  const file = Bun.file(join(DIRECTORY, version, MANIFEST));
  return (await file.exists()) ? await file.json() : null;
}

export async function writeManifest(folder: string, manifest: PageManifest): Promise<void> {
  await Bun.write(join(folder, MANIFEST), JSON.stringify(manifest));
}
