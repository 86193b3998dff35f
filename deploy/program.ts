import { cp, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { COMMIT } from "../src/lib/version.ts";
import { PROGRAM_FOLDERS, PROGRAM_ROOT, THREAD_SCRIPTS } from "../src/lib/program-files.ts";

/**
 * Builds the program for the package: one script for each thread, what they share, and the folders that are read while
 * it runs. Needs a built console and site.
 */
export async function buildProgram(folder: string): Promise<void> {
  await build({ outdir: folder, splitting: true });
  for (const from of PROGRAM_FOLDERS)
    await cp(join(PROGRAM_ROOT, from), join(folder, basename(from)), { recursive: true });
}

/**
 * Builds the same with the runtime into one file. `runtime` is the file of another platform's Bun, of the version that
 * runs this; without it the file is for this machine. Needs a built console and site.
 */
export async function buildExecutable({
  outfile,
  runtime,
  folders = PROGRAM_FOLDERS,
  isPrecompiled = false,
}: ExecutableOptions): Promise<void> {
  await mkdir(dirname(outfile), { recursive: true });
  const assets = folders.map((folder) => resolve(PROGRAM_ROOT, folder));
  const other = runtime && { target: runtime.target, executablePath: runtime.path };
  await build({
    minify: { whitespace: true, syntax: true },
    splitting: true,
    ...(isPrecompiled && { bytecode: true, format: "esm" }),
    compile: { outfile, assets, autoloadBunfig: false, ...other },
  });
}

export interface ExecutableOptions {
  outfile: string;
  runtime?: Runtime;
  /** What is read while it runs, with the last names of `PROGRAM_FOLDERS`, which are the default. */
  folders?: readonly string[];
  /** With compiled code: it starts with half the processor time, and its file is 20 MB larger. */
  isPrecompiled?: boolean;
}

export interface Runtime {
  target: Bun.Build.CompileTarget;
  /** Of the file. */
  path: string;
}

async function build(options: Omit<Bun.BuildConfig, "entrypoints">): Promise<void> {
  const result = await Bun.build({
    entrypoints: ["src/start.ts", ...THREAD_SCRIPTS].map((script) => join(PROGRAM_ROOT, script)),
    target: "bun",
    define: { BUILD_COMMIT: JSON.stringify(COMMIT) },
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    ...options,
  } as Bun.BuildConfig);
  if (!result.success) throw new AggregateError(result.logs, "the program could not be built");
}
