import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildExecutable } from "../deploy/program.ts";
import { DIRECTORY as CONSOLE_BUILDS, readManifest, versionOfSources } from "../src/console/manifest.ts";
import { PROGRAM_ROOT } from "../src/lib/program-files.ts";

/*
 * `npm test`. All tests together start some three hundred gateways. They run an executable that is built once, because
 * that starts with half the processor time. With arguments, the named tests run from the sources, without a build.
 */
const RUN = ["test", "--timeout", "30000", "--parallel=4"];

const args = process.argv.slice(2);
const program = args.length === 0 ? { GATEWAY_PROGRAM: await build() } : {};
process.execve!(process.execPath, [process.execPath, ...RUN, ...args], { ...process.env, ...program });

/** Builds an executable from the current sources and returns its path. */
async function build(): Promise<string> {
  const folder = join(PROGRAM_ROOT, "dist/test");
  await mkdir(folder, { recursive: true });
  const made = await mkdtemp(join(folder, "made-"));
  // Not every test needs the built documents, so they may be missing.
  const folders = ["catalogue", await presentConsole(made), "dist/docs"];
  const outfile = join(made, "gateway");
  await buildExecutable({
    outfile,
    folders: folders.filter((path) => existsSync(resolve(PROGRAM_ROOT, path))),
    isPrecompiled: true,
  });
  // Another run may still be starting the old file, so the new file replaces it by a rename.
  const path = join(folder, "gateway");
  await rename(outfile, path);
  await rm(made, { recursive: true });
  return path;
}

/** Copies the console's build of the current sources to a folder. Builds it first if it does not exist. */
async function presentConsole(folder: string): Promise<string> {
  const version = await versionOfSources();
  if (!(await readManifest(version)))
    execFileSync("npm", ["run", "build"], { cwd: PROGRAM_ROOT, stdio: "inherit" });
  const copy = join(folder, "console");
  await cp(join(CONSOLE_BUILDS, version), join(copy, version), { recursive: true });
  return copy;
}
