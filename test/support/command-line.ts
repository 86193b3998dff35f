import { userInfo } from "node:os";
import { runCli, type CliContext } from "../../src/cli/index.ts";
import { openAdminStore, readStoredEntries, runMigrations } from "../../src/run/stores.ts";
import { fillDemo } from "../../src/run/demo.ts";
import { backUp, restore } from "../../src/run/stores.ts";
import { openConfiguration } from "../../src/run/reload.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";

interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

const unused = (): never => {
  throw new Error("the local machine is used");
};

/** The functions that commands use on a machine with a store. */
export const MACHINE = {
  openAdminStore,
  readStoredEntries,
  openConfiguration: (load) => openConfiguration(load),
  migrate: runMigrations,
  fillDemo,
  backUp,
  restore,
  providers: PROVIDERS,
} satisfies Partial<CliContext>;

/** Runs a command in this process, far faster than in a separate process. By default there is no store. */
export async function runCommand(
  args: readonly string[],
  options: Partial<CliContext> = {},
): Promise<CommandResult> {
  const written = { stdout: "", stderr: "" };
  const code = await runCli(args, {
    serve: unused,
    runWorker: unused,
    openAdminStore: unused,
    readStoredEntries: () => Promise.resolve([]),
    openConfiguration: unused,
    migrate: unused,
    fillDemo: unused,
    backUp: unused,
    restore: unused,
    providers: new Map(),
    env: {},
    cwd: "/",
    userName: () => userInfo().username,
    stdout: {
      write(text, onWritten) {
        written.stdout += text;
        onWritten?.();
      },
    },
    stderr: { write: (text) => void (written.stderr += text) },
    ...options,
  });
  return { code, ...written };
}
