import { describe, expect, test } from "bun:test";
import { every, sleep, untilAborted, withDeadline } from "./waiting.ts";

const never = new Promise<never>(() => {});

describe("sleep", () => {
  test("resolves after its time", async () => {
    const startedAt = performance.now();
    await sleep(20, new AbortController().signal);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
  });

  test("rejects with the reason of an abort, before and while it waits", async () => {
    const reason = new Error("gone");
    await expect(sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

describe("untilAborted", () => {
  test("gives the outcome of the work", async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  });

  test("rejects with the reason of an abort", async () => {
    const reason = new Error("gone");
    await expect(untilAborted(never, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe("withDeadline", () => {
  test("gives the outcome of work in time", async () => {
    expect(await withDeadline(60_000, Promise.resolve(1), () => new Error("late"))).toBe(1);
  });

  test("rejects when the time has passed", async () => {
    await expect(withDeadline(5, never, () => new Error("late"))).rejects.toThrow("late");
  });
});

describe("every", () => {
  test("runs again and again, never twice at once, and reports what fails", async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const problems: unknown[] = [];
    const third = Promise.withResolvers<void>();
    const work = every(
      1,
      async () => {
        most = Math.max(most, (running += 1));
        await Bun.sleep(5);
        running -= 1;
        runs += 1;
        if (runs === 3) third.resolve();
        if (runs === 2) throw new Error("second");
      },
      (error) => problems.push(error),
    );
    await third.promise;
    await work.stop();
    expect(most).toBe(1);
    expect(problems).toEqual([new Error("second")]);
  });

  test("stop waits for the run under way and starts no other", async () => {
    const begun = Promise.withResolvers<void>();
    const { promise, resolve } = Promise.withResolvers<void>();
    let runs = 0;
    const run = () => {
      runs += 1;
      begun.resolve();
      return promise;
    };
    const work = every(1, run, () => {});
    await begun.promise;
    let isStopped = false;
    const stopping = work.stop().then(() => (isStopped = true));
    await Bun.sleep(5);
    expect(isStopped).toBe(false);
    resolve();
    await stopping;
    await Bun.sleep(5);
    expect(runs).toBe(1);
  });
});
