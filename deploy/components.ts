import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageFile from "../package.json";
import { PROGRAM_ROOT } from "../src/lib/program-files.ts";
import { run } from "./run.ts";

/**
 * Returns the components of a release in the CycloneDX format: the program's dependencies and the packages in the
 * console's bundle. The versions come from the lock file.
 */
export async function components(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-components-"));
  try {
    const { name, version, license, allowScripts, dependencies } = packageFile;
    const shipped = { ...dependencies, ...(await consoleDependencies()) };
    const manifest = { name, version, license, allowScripts, dependencies: shipped };
    await Bun.write(join(folder, "package.json"), JSON.stringify(manifest));
    await copyFile(join(PROGRAM_ROOT, "package-lock.json"), join(folder, "package-lock.json"));
    // Removes packages that only tests need. `npm sbom --omit dev` would also omit the console's packages.
    await run(["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit"], folder);
    return await run(["npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the development dependencies that the page imports, and Tailwind, whose styles the page contains. */
async function consoleDependencies(): Promise<Record<string, string>> {
  const root = join(PROGRAM_ROOT, "src/console");
  const names = (await readdir(root, { recursive: true })).filter((name) => /\.(?:tsx?|css)$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(root, name), "utf8")));
  const isImported = (name: string) => texts.some((text) => new RegExp(`["']${name}["'/]`).test(text));
  return Object.fromEntries(Object.entries(packageFile.devDependencies).filter(([name]) => isImported(name)));
}
