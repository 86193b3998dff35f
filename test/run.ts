import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildExecutable } from "../deploy/program.ts";
import { DIRECTORY as CONSOLE_BUILDS, readManifest, versionOfSources } from "../src/console/manifest.ts";
import { PROGRAM_ROOT } from "../src/lib/program-files.ts";

/*
 * Runs all tests: `npm test`. The tests start some three hundred gateways from an executable, which needs half the
 * processor time of a start from the sources. With arguments, runs the named tests from the sources, without a build.
 */
const RUN = ["test", "--timeout", "30000", "--parallel=4"];

const args = process.argv.slice(2);
const program = args.length === 0 ? await prepare() : {};
process.execve!(process.execPath, [process.execPath, ...RUN, ...args], { ...process.env, ...program });

/**
 * Builds the executable and creates the database that gateways start with. Sets the variable that names the executable,
 * and returns the one that names the database.
 */
async function prepare() {
  process.env["GATEWAY_PROGRAM"] = await build();
  const { createStartedDatabase } = await import("./support/started-database.ts");
  const path = join(PROGRAM_ROOT, "dist/test/started.sqlite");
  await createStartedDatabase(path);
  return { GATEWAY_STARTED_DATABASE: path };
}

/** Builds an executable from the current sources and returns its path. */
async function build(): Promise<string> {
  const folder = join(PROGRAM_ROOT, "dist/test");
  await mkdir(folder, { recursive: true });
  const made = await mkdtemp(join(folder, "made-"));
  // The built documents may be missing, because few tests need them.
  const folders = ["catalogue", await presentConsole(made), "dist/docs"];
  const outfile = join(made, "gateway");
  await buildExecutable({
    outfile,
    folders: folders.filter((path) => existsSync(resolve(PROGRAM_ROOT, path))),
    isPrecompiled: true,
  });
  // Another run may be starting the old file. Therefore the new file replaces the old file by a rename.
  const path = join(folder, "gateway");
  await rename(outfile, path);
  await rm(made, { recursive: true });
  return path;
}

/** Copies the console's build of the current sources into a folder. Builds the console first if needed. */
async function presentConsole(folder: string): Promise<string> {
  const version = await versionOfSources();
  if (!(await readManifest(version)))
    execFileSync("npm", ["run", "build"], { cwd: PROGRAM_ROOT, stdio: "inherit" });
  const copy = join(folder, "console");
  await cp(join(CONSOLE_BUILDS, version), join(copy, version), { recursive: true });
  return copy;
}
