import { cp, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { COMMIT } from "../src/lib/version.ts";
import { PROGRAM_FOLDERS, PROGRAM_ROOT, THREAD_SCRIPTS } from "../src/lib/program-files.ts";

/**
 * Builds the program for the package: a script for each thread, the code that the scripts share, and the folders that
 * are read at run time. The console and the site must be built first.
 */
export async function buildProgram(folder: string): Promise<void> {
  await build({ outdir: folder, splitting: true });
  for (const from of PROGRAM_FOLDERS)
    await cp(join(PROGRAM_ROOT, from), join(folder, basename(from)), { recursive: true });
}

/**
 * Builds the program and the runtime into one file. `runtime` is another platform's Bun of the same version; by default
 * the file is for this machine. The console and the site must be built first.
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
  /** Folders that are read at run time. The last part of each path must equal that in `PROGRAM_FOLDERS`. */
  folders?: readonly string[];
  /** Adds compiled code. The program then starts with half of the processor time, and the file is 20 MB larger. */
  isPrecompiled?: boolean;
}

export interface Runtime {
  target: Bun.Build.CompileTarget;
  /** Path of the runtime's file. */
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
