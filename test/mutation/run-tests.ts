import { endGroup } from "../support/tree-copy.ts";

export interface TestRun {
  hasPassed: boolean;
  /** Title of the first failed test. Null when no test has failed. */
  failed: string | null;
  /** True when the run exceeded the time limit. */
  isLate: boolean;
  seconds: number;
  /** The last part of the output. */
  tail: string;
}

/** Runs a test file in a copy until its first failure. At the time limit, kills the run and its child processes. */
export async function runTests(copy: string, file: string, limitMs: number): Promise<TestRun> {
  const startedAt = performance.now();
  const started = Bun.spawn([process.execPath, "test", "--bail", "--timeout", "30000", `./${file}`], {
    cwd: copy,
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65000" },
    stdio: ["ignore", "pipe", "pipe"],
    // The run has its own process group, so that servers of a test end with it.
    detached: true,
  });
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    endGroup(started.pid);
  }, limitMs);
  const output = Promise.all([new Response(started.stdout).text(), new Response(started.stderr).text()]);
  const code = await started.exited;
  clearTimeout(limit);
  endGroup(started.pid);
  const text = (await output).join("");
  const failed = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/m.exec(text)?.[1] ?? null;
  const seconds = (performance.now() - startedAt) / 1000;
  return { hasPassed: code === 0, failed, isLate, seconds, tail: text.slice(-2000) };
}
