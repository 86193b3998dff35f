import { endGroup } from "../support/tree-copy.ts";

export interface TestRun {
  hasPassed: boolean;
  /** The title of the first test that failed; null where none ran that far. */
  failed: string | null;
  /** It did not end in time. */
  isLate: boolean;
  seconds: number;
  /** The end of the output. */
  tail: string;
}

/** Runs one test file of a copy up to its first failure. What does not end in time is killed with all that it started. */
export async function runTests(copy: string, file: string, limitMs: number): Promise<TestRun> {
  const startedAt = performance.now();
  const started = Bun.spawn([process.execPath, "test", "--bail", "--timeout", "30000", `./${file}`], {
    cwd: copy,
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65000" },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, so that servers which a test started end with it.
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
