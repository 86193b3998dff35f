import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PROGRAM_FOLDERS, PROGRAM_ROOT, THREAD_SCRIPTS } from "../src/lib/program-files.ts";

/**
 * Builds the program with its runtime, threads, catalogue and console into one file. `runtime` is the file of another
 * platform's Bun, of the version that runs this; without it the file is for this machine. Needs a built console.
 */
export async function buildExecutable({ outfile, runtime }: ExecutableOptions): Promise<void> {
  await mkdir(dirname(outfile), { recursive: true });
  const inProgram = (path: string) => join(PROGRAM_ROOT, path);
  const result = await Bun.build({
    entrypoints: ["src/start.ts", ...THREAD_SCRIPTS].map(inProgram),
    root: PROGRAM_ROOT,
    minify: { whitespace: true, syntax: true },
    compile: {
      outfile,
      assets: PROGRAM_FOLDERS.map(inProgram),
      ...(runtime && { target: runtime.target, executablePath: runtime.path }),
      autoloadBunfig: false,
    },
  });
  if (!result.success) throw new AggregateError(result.logs, "the executable could not be built");
}

export interface ExecutableOptions {
  outfile: string;
  runtime?: { target: Bun.Build.CompileTarget; path: string };
}
