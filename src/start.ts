import { ownCommand, processEnvironment, RUNTIME_VARIABLES } from "./config/environment.ts";

/*
 * Starts the program with the environment variables that the runtime reads at its start. If one is missing, the process
 * replaces itself (execve) and keeps its process id. Only a few modules are loaded before that.
 */
const given = processEnvironment();
const missing = Object.entries(RUNTIME_VARIABLES).filter(([name]) => !given[name]);
if (missing.length > 0 && process.execve) {
  const [program, ...args] = ownCommand();
  // Options of the runtime, such as `--watch`. The executable has none.
  const options = Bun.isStandaloneExecutable ? [] : process.execArgv;
  process.execve(program, [program, ...options, ...args], { ...given, ...Object.fromEntries(missing) });
}
await import("./main.ts");
