import { describe, expect, test } from "bun:test";
import type { Target } from "../../domain/channel.ts";
import type { Attempt } from "../../domain/ledger.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { DeadlineTimer } from "../../lib/deadline-timer.ts";
import { ClientDisconnected } from "./call.ts";
import { callTargets, type Failover } from "./failover.ts";
import { Health } from "./health.ts";
import { ConcurrencyLimiter } from "./concurrency-limiter.ts";
import { RetryBudget } from "./retry-budget.ts";

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

function process(overrides: Partial<Failover> = {}): Failover {
  return {
    clock,
    deadlineTimer: new DeadlineTimer(10),
    health: new Health(clock),
    retryBudget: new RetryBudget(clock, 1, 1000),
    concurrency: new ConcurrencyLimiter(),
    maxAttempts: 3,
    ...overrides,
  };
}

function target(id: string, maxConcurrent?: number): Target {
  return { channel: { id, provider: "p", settings: {}, maxConcurrent }, upstreamModel: "m", weight: 1 };
}

function request(
  targets: Target[],
  callTarget: (target: Target) => Promise<string>,
  caller = new AbortController().signal,
) {
  const attempts: Attempt[] = [];
  const failsOver = ({ kind }: UpstreamError): boolean => kind !== "rejected";
  return { targets, clientSignal: caller, totalMs: 5000, failsOver, callTarget, attempts };
}

const fail = (kind: UpstreamErrorKind, detail = {}): Promise<string> =>
  Promise.reject(new UpstreamError(kind, kind, detail));

describe("failover", () => {
  test("the next target answers, and every attempt is told with its reason", async () => {
    const asked = request([target("a"), target("b")], ({ channel }) =>
      channel.id === "a" ? fail("broken", { status: 200 }) : Promise.resolve("yes"),
    );
    const { reply, target: by } = await callTargets(process(), asked);
    expect(reply).toBe("yes");
    expect(by.channel.id).toBe("b");
    expect(asked.attempts.map(({ channel, outcome, status }) => [channel, outcome, status])).toEqual([
      ["a", "broken", 200],
      ["b", "answered", undefined],
    ]);
  });

  test("when all its targets are out, it says why they are, whatever others suffer", async () => {
    const own = process();
    const trouble = (kind: UpstreamErrorKind) => new UpstreamError(kind, kind, { retryAfterSeconds: 5 });
    own.health.failed(target("dead"), trouble("account"));
    own.health.failed(target("another"), trouble("limited"));
    const asked = request([target("dead")], () => Promise.resolve("never"));
    await expect(callTargets(own, asked)).rejects.toMatchObject({ kind: "account" });
  });

  test("a target that cannot do it passes the request on, and hides no better reason", async () => {
    const unsent = () => fail("rejected", { isUnsent: true });
    const failsOver = ({ kind, isUnsent }: UpstreamError): boolean => isUnsent || kind !== "rejected";
    const capable = request([target("maskless"), target("able")], ({ channel }) =>
      channel.id === "able" ? Promise.resolve("yes") : unsent(),
    );
    expect((await callTargets(process(), { ...capable, failsOver })).reply).toBe("yes");
    const crowded = request([target("able"), target("maskless")], ({ channel }) =>
      channel.id === "able" ? fail("overloaded") : unsent(),
    );
    const attempts = { ...crowded, failsOver };
    await expect(callTargets(process({ maxAttempts: 2 }), attempts)).rejects.toMatchObject({
      kind: "overloaded",
    });
    const alone = { ...request([target("maskless")], unsent), failsOver };
    await expect(callTargets(process(), alone)).rejects.toMatchObject({ kind: "rejected" });
  });

  test("an answer that the request may have caused is asked for once more and ejects nobody", async () => {
    const own = process();
    for (let turn = 0; turn < 10; turn += 1) {
      const asked = request([target("a")], () => fail("broken", { isByRequest: true }));
      await expect(callTargets(own, asked)).rejects.toMatchObject({ kind: "broken" });
      expect(asked.attempts).toHaveLength(2);
    }
    expect(own.health.ejections()).toEqual([]);
  });

  test("a target hears whether another could take over", async () => {
    const own = process({ maxAttempts: 2 });
    own.health.failed(target("out"), new UpstreamError("account", "account"));
    const apply: unknown[] = [];
    const asked = request([target("a"), target("out"), target("b"), target("c")], () => fail("broken"));
    const callTarget = async ({ channel }: Target, _call: unknown, canMoveOn: () => boolean) => {
      apply.push([channel.id, canMoveOn()]);
      return await fail("broken");
    };
    await expect(callTargets(own, { ...asked, callTarget })).rejects.toMatchObject({ kind: "broken" });
    expect(apply).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("a rejected request goes nowhere else", async () => {
    const asked = request([target("a"), target("b")], () => fail("rejected"));
    await expect(callTargets(process(), asked)).rejects.toMatchObject({ kind: "rejected" });
    expect(asked.attempts).toHaveLength(1);
  });

  test("one target that broke down briefly is asked again, at most as often as allowed", async () => {
    let calls = 0;
    const asked = request([target("a")], () => (++calls < 3 ? fail("unreachable") : Promise.resolve("late")));
    expect((await callTargets(process(), asked)).reply).toBe("late");
    const never = request([target("z")], () => fail("unreachable"));
    await expect(callTargets(process(), never)).rejects.toMatchObject({ kind: "unreachable" });
    expect(never.attempts).toHaveLength(3);
  });

  test("after five failures in a row nothing is sent until the ejection is over, and then one probe", async () => {
    let now = 0;
    const moved = { now: () => now, monotonic: () => now };
    const shared = process({ health: new Health(moved), maxAttempts: 1 });
    for (let failure = 0; failure < 5; failure++) {
      await expect(
        callTargets(
          shared,
          request([target("a")], () => fail("overloaded")),
        ),
      ).rejects.toThrow();
    }
    const idle = request([target("a")], () => Promise.resolve("never"));
    await expect(callTargets(shared, idle)).rejects.toMatchObject({
      kind: "overloaded",
      retryAfterSeconds: 1,
    });
    expect(idle.attempts).toHaveLength(0);
    now += 1001;
    let finish: (answer: string) => void = () => {};
    const probe = callTargets(
      shared,
      request([target("a")], () => new Promise((resolve) => (finish = resolve))),
    );
    await expect(
      callTargets(
        shared,
        request([target("a")], () => Promise.resolve("no")),
      ),
    ).rejects.toThrow();
    finish("back");
    expect((await probe).reply).toBe("back");
    expect(
      (
        await callTargets(
          shared,
          request([target("a")], () => Promise.resolve("all")),
        )
      ).reply,
    ).toBe("all");
  });

  test("a dead account is passed over at once while the others go on", async () => {
    const shared = process();
    const hits: string[] = [];
    const callTarget = ({ channel }: Target): Promise<string> => {
      hits.push(channel.id);
      return channel.id === "dead" ? fail("account") : Promise.resolve("ok");
    };
    const targets = [target("dead"), target("alive")];
    await callTargets(shared, request(targets, callTarget));
    await callTargets(shared, request(targets, callTarget));
    expect(hits).toEqual(["dead", "alive", "alive"]);
  });

  test("a vendor's hint keeps its target out for so long, and the caller hears how long", async () => {
    const shared = process();
    await expect(
      callTargets(
        shared,
        request([target("a")], () => fail("limited", { retryAfterSeconds: 30 })),
      ),
    ).rejects.toThrow();
    const error: unknown = await callTargets(
      shared,
      request([target("a")], () => Promise.resolve("x")),
    ).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "limited", retryAfterSeconds: 30 });
  });

  test("when everything fails, further attempts stay within a fifth of the requests and three", async () => {
    const shared = process({
      retryBudget: new RetryBudget(clock, 0.2, 3),
      health: new Health({ now: () => 0, monotonic: () => 0 }),
    });
    let calls = 0;
    const callTarget = (): Promise<string> => {
      calls++;
      return fail("timeout");
    };
    for (let index = 0; index < 100; index++) {
      await callTargets(shared, request([target(`a${index}`), target(`b${index}`)], callTarget)).catch(
        () => {},
      );
    }
    expect(calls).toBeLessThanOrEqual(100 * 1.2 + 3);
    expect(calls).toBeGreaterThan(100);
  });

  test("a channel bears only so many calls at once; the next channel takes over", async () => {
    const shared = process();
    const one = target("small", 1);
    const held = await callTargets(
      shared,
      request([one], () => Promise.resolve("held")),
    );
    const other = await callTargets(
      shared,
      request([one, target("big")], () => Promise.resolve("x")),
    );
    expect(other.target.channel.id).toBe("big");
    await expect(
      callTargets(
        shared,
        request([one], () => Promise.resolve("x")),
      ),
    ).rejects.toMatchObject({ kind: "overloaded" });
    held.release();
    expect(
      (
        await callTargets(
          shared,
          request([one], () => Promise.resolve("free")),
        )
      ).reply,
    ).toBe("free");
  });

  test("a caller who has gone ends the call and starts no other", async () => {
    const caller = new AbortController();
    const asked = request([target("a"), target("b")], () => new Promise(() => {}), caller.signal);
    const running = callTargets(process(), {
      ...asked,
      callTarget: (_, call) =>
        new Promise((_resolve, reject) =>
          call.signal.addEventListener("abort", () => reject(new Error("socket closed"))),
        ),
    });
    caller.abort();
    await expect(running).rejects.toBeInstanceOf(ClientDisconnected);
    expect(asked.attempts.map(({ outcome }) => outcome)).toEqual(["caller_gone"]);
  });

  test("a passed deadline is a timeout that may have been carried out", async () => {
    const asked = request([target("a")], () => Promise.resolve(""));
    const running = callTargets(process({ maxAttempts: 1 }), {
      ...asked,
      callTarget: (_, call) => {
        call.expect("the first byte", 20);
        return new Promise((_resolve, reject) =>
          call.signal.addEventListener("abort", () => reject(call.signal.reason)),
        );
      },
    });
    await expect(running).rejects.toMatchObject({ kind: "timeout", isAmbiguous: true });
    expect(asked.attempts).toMatchObject([{ outcome: "timeout", isAmbiguous: true }]);
  });

  test("the whole call has a deadline of its own, the channel's before the family's, until it is finished", async () => {
    const slow = {
      ...target("slow"),
      channel: { ...target("slow").channel, timeouts: { totalMs: 30 } },
    };
    const open = await callTargets(
      process(),
      request([slow], () => Promise.resolve("streaming")),
    );
    await new Promise((resolve) => open.call.signal.addEventListener("abort", resolve));
    expect(open.call.signal.reason).toMatchObject({ kind: "timeout" });
    const ended = await callTargets(
      process(),
      request([slow], () => Promise.resolve("whole")),
    );
    ended.release();
    await Bun.sleep(80);
    expect(ended.call.signal.aborted).toBe(false);
  });
});
