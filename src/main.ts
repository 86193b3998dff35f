import { backUp, openAdminStore, readStoredEntries, restore, runMigrations } from "./run/stores.ts";
import { openConfiguration } from "./run/reload.ts";
import { runCli } from "./cli/index.ts";
import { secureEnvironment } from "./config/index.ts";
import { PROVIDERS } from "./providers/registry.ts";

/** Only commands that serve load `run/serve.ts`, so that all other commands start faster. */
const gateway = () => import("./run/serve.ts");

const exitCode = await runCli(process.argv.slice(2), {
  serve: async (...run) => await (await gateway()).serve(...run),
  runWorker: async (...run) => await (await gateway()).runWorker(...run),
  openAdminStore,
  readStoredEntries,
  openConfiguration: (load) => openConfiguration(load),
  migrate: runMigrations,
  fillDemo: async (...demo) => await (await import("./run/demo.ts")).fillDemo(...demo),
  backUp,
  restore,
  providers: PROVIDERS,
  env: secureEnvironment(),
  cwd: process.cwd(),
  userName,
  stdout: process.stdout,
  stderr: process.stderr,
});
process.exitCode = exitCode;
// A failed start, for example because a port is in use, may leave handles open. They would keep the process alive.
if (exitCode !== 0) process.exit(exitCode);

/** Returns the user's name or id. The runtime's `userInfo()` reads the variable USER, which containers do not set. */
function userName(): string {
  try {
    const { success, stdout } = Bun.spawnSync(["id", "-un"], { stderr: "ignore" });
    if (success) return stdout.toString().trim();
  } catch {
    // There is no program `id`.
  }
  return `uid ${process.getuid?.()}`;
}
