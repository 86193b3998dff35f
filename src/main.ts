import { userInfo } from "node:os";
import { openAdmin, runMigrations } from "./open-admin.ts";
import { openConfiguration } from "./open-configuration.ts";
import { runCli } from "./cli/index.ts";
import { secureEnvironment } from "./config/index.ts";
import { PROVIDERS } from "./providers/registry.ts";

/** Loaded by what serves only, so that other commands start quickly. */
const gateway = () => import("./serve.ts");

const exitCode = await runCli(process.argv.slice(2), {
  serve: async (...run) => await (await gateway()).serve(...run),
  runWorker: async (...run) => await (await gateway()).runWorker(...run),
  openAdmin,
  openConfiguration: (load) => openConfiguration(load),
  migrate: runMigrations,
  providers: PROVIDERS,
  env: secureEnvironment(),
  cwd: process.cwd(),
  userName: userName(),
  stdout: process.stdout,
  stderr: process.stderr,
});
process.exitCode = exitCode;
// A failed start, for example on a port in use, may leave handles open that keep the process alive.
if (exitCode !== 0) process.exit(exitCode);

/** A container may run under a number that no user of the system has. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
