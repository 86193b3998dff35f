import { readdirSync, readFileSync } from "node:fs";
import { endGroup } from "../support/tree-copy.ts";

/**
 * Runs a shell command until it ends, times out or is stopped. Then ends all processes that the command started: its
 * process group, and processes outside of the group whose environment contains the unique `mark`.
 */
export async function runProgram(
  command: string,
  { cwd, env, mark, maxMs, signal }: ProgramOptions,
): Promise<{ output: string; isLate: boolean }> {
  const child = Bun.spawn({
    cmd: ["sh", "-c", command],
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const printed = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<true>();
  const limit = setTimeout(stop, maxMs, true);
  signal.addEventListener("abort", () => stop(true), { once: true });
  const isLate = await Promise.race([child.exited.then(() => false), stopped]);
  clearTimeout(limit);
  endGroup(child.pid);
  for (const pid of processesWith(mark)) end(pid);
  return { output: (await printed).join("\n"), isLate };
}

interface ProgramOptions {
  cwd: string;
  env: Record<string, string>;
  mark: string;
  maxMs: number;
  signal: AbortSignal;
}

function processesWith(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark);
      } catch {
        // The process has ended, or it belongs to another user.
        return false;
      }
    })
    .map(Number);
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended in the meantime.
  }
}
