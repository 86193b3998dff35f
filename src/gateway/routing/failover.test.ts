import { describe, expect, spyOn, test } from "bun:test";
import type { Target } from "../../domain/channel.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { ClientDisconnected } from "./call.ts";
import { callTargets } from "./failover.ts";
import { Health } from "./health.ts";
import { RetryBudget } from "./call-bounds.ts";
import { clock, fail, process, request, target } from "../../../test/support/failover-process.ts";

/** Returns a `Health` that ignores failures. */
function neverEjecting(): Health {
  const health = new Health(clock);
  health.failed = () => {};
  return health;
}

describe("failover", () => {
  test("the next target replies, and every attempt is recorded with its outcome", async () => {
    const failover = request([target("a"), target("b")], ({ channel }) =>
      channel.id === "a" ? fail("broken", { status: 200 }) : Promise.resolve("yes"),
    );
    const { reply, target: by } = await callTargets(process(), failover);
    expect(reply).toBe("yes");
    expect(by.channel.id).toBe("b");
    expect(failover.attempts.map(({ channel, outcome, status }) => [channel, outcome, status])).toEqual([
      ["a", "broken", 200],
      ["b", "answered", undefined],
    ]);
  });

  test("when all its targets are ejected, the error is theirs and not that of other targets", async () => {
    const own = process();
    const trouble = (kind: UpstreamErrorKind) => new UpstreamError(kind, kind, { retryAfterSeconds: 5 });
    own.health.failed(target("dead"), "org", trouble("account"));
    own.health.failed(target("another"), "org", trouble("limited"));
    const failover = request([target("dead")], () => Promise.resolve("never"));
    await expect(callTargets(own, failover)).rejects.toMatchObject({ kind: "account" });
  });

  test("a target that cannot take the request passes it on, and does not hide an earlier error", async () => {
    const unsent = () => fail("rejected", { isUnsent: true });
    const failsOver = ({ kind, isUnsent }: UpstreamError): boolean => isUnsent || kind !== "rejected";
    const capable = request([target("maskless"), target("able")], ({ channel }) =>
      channel.id === "able" ? Promise.resolve("yes") : unsent(),
    );
    expect((await callTargets(process(), { ...capable, failsOver })).reply).toBe("yes");
    const overloaded = request([target("able"), target("maskless")], ({ channel }) =>
      channel.id === "able" ? fail("overloaded") : unsent(),
    );
    const attempts = { ...overloaded, failsOver };
    await expect(callTargets(process({ maxAttempts: 2 }), attempts)).rejects.toMatchObject({
      kind: "overloaded",
    });
    const alone = { ...request([target("maskless")], unsent), failsOver };
    await expect(callTargets(process(), alone)).rejects.toMatchObject({ kind: "rejected" });
  });

  test("a reply that the request may have caused is requested once more and ejects no target", async () => {
    const own = process();
    for (let turn = 0; turn < 10; turn += 1) {
      const failover = request([target("a")], () => fail("broken", { isByRequest: true }));
      await expect(callTargets(own, failover)).rejects.toMatchObject({ kind: "broken" });
      expect(failover.attempts).toHaveLength(2);
    }
    const permanent = request([target("a")], () => fail("broken", { isByRequest: true, status: 404 }));
    await expect(callTargets(own, permanent)).rejects.toMatchObject({ kind: "broken" });
    expect(permanent.attempts).toHaveLength(1);
    expect(own.health.ejections()).toEqual([]);
  });

  test.each([
    ["timeout", "late", ["a", "late", "b"]],
    ["timeout", "b", ["a", "b", "c"]],
    ["broken", "late", ["a", "b", "c"]],
  ] as const)("after a %s with %s for timeouts, the order is %o", async (kind, id, expected) => {
    const [a, b, c, late] = [target("a"), target("b"), target("c"), target("late")];
    const targets = kind === "timeout" && id === "b" ? [a, c, b] : [a, b, c];
    const failover = request(targets, () => fail(kind));
    const afterTimeout = id === "late" ? late : b;
    await expect(callTargets(process(), { ...failover, afterTimeout })).rejects.toMatchObject({ kind });
    expect(failover.attempts.map(({ channel }) => channel)).toEqual([...expected]);
  });

  test("a call knows whether another target could take over", async () => {
    const own = process({ maxAttempts: 2 });
    own.health.failed(target("out"), "org", new UpstreamError("account", "account"));
    const apply: unknown[] = [];
    const failover = request([target("a"), target("out"), target("b"), target("c")], () => fail("broken"));
    const callTarget = async ({ channel }: Target, _call: unknown, canMoveOn: () => boolean) => {
      apply.push([channel.id, canMoveOn()]);
      return await fail("broken");
    };
    await expect(callTargets(own, { ...failover, callTarget })).rejects.toMatchObject({ kind: "broken" });
    expect(apply).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("a vendor's message about its model names the model that the caller requested", async () => {
    const publicMessage =
      "Too long for gpt-4.1, of which gpt-4.1-mini and mygpt-4.1 are others, and gpt-401.";
    const own = { ...target("a"), upstreamModel: "gpt-4.1" };
    const failover = request([own], () => fail("rejected", { publicMessage }));
    await expect(callTargets(process(), failover)).rejects.toMatchObject({
      publicMessage: "Too long for public, of which gpt-4.1-mini and mygpt-4.1 are others, and gpt-401.",
    });
  });

  test("a slot of a channel is free again after a failure", async () => {
    const own = process();
    const failing = request([target("a", 1)], () => fail("rejected"));
    for (let turn = 0; turn < 2; turn += 1)
      await expect(callTargets(own, failing)).rejects.toMatchObject({ kind: "rejected" });
    using slot = own.concurrency.take(target("a", 1).channel, "org");
    expect(slot).not.toBeNull();
  });

  test("a rejected request is not sent to another target", async () => {
    const failover = request([target("a"), target("b")], () => fail("rejected"));
    await expect(callTargets(process(), failover)).rejects.toMatchObject({ kind: "rejected" });
    expect(failover.attempts).toHaveLength(1);
  });

  test("a target with a short disturbance is called again, up to the maximum of attempts", async () => {
    let calls = 0;
    const failover = request([target("a")], () =>
      ++calls < 3 ? fail("unreachable") : Promise.resolve("late"),
    );
    expect((await callTargets(process(), failover)).reply).toBe("late");
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

  test("a target with a refused account is skipped at once", async () => {
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

  test("the error is final when every target refuses the account, and not when one could respond later", async () => {
    const last = async (own: ReturnType<typeof process>, kinds: Record<string, UpstreamErrorKind>) =>
      await callTargets(
        own,
        request(
          Object.keys(kinds).map((id) => target(id)),
          ({ channel }) => fail(kinds[channel.id] ?? "broken"),
        ),
      ).catch((error: unknown) => error);
    const own = process();
    expect(await last(own, { a: "account", b: "account" })).toMatchObject({ kind: "account", isFinal: true });
    // Now both targets are ejected, and no target is called.
    expect(await last(own, { a: "account", b: "account" })).toMatchObject({ kind: "account", isFinal: true });
    for (const other of ["limited", "broken"] as const)
      expect(await last(process({ maxAttempts: 2 }), { a: other, b: "account" })).toMatchObject({
        kind: "account",
        isFinal: false,
      });
    const passedOver = process();
    passedOver.health.failed(target("a"), "org", new UpstreamError("limited", "", { retryAfterSeconds: 5 }));
    expect(await last(passedOver, { a: "limited", b: "account" })).toMatchObject({ isFinal: false });
  });

  test("a vendor's retry-after ejects its target for so long and reaches the error", async () => {
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
    expect(String(error)).toContain(
      "callers get this error until one works again; the first is tried in 30 s",
    );
    expect(String(error)).toContain("Raise the limit at the vendor, or give the model another target");
  });

  test("repeated calls to a failing target stay within a fifth of its first calls and three", async () => {
    const still = { now: () => 0, monotonic: () => 0 };
    const shared = process({ retryBudget: new RetryBudget(still, 0.2, 3) });
    let calls = 0;
    for (let index = 0; index < 100; index++) {
      const failing = request([target("a")], () => {
        calls++;
        return fail("overloaded");
      });
      await callTargets({ ...shared, health: new Health(clock) }, failing).catch(() => {});
    }
    expect(calls).toBeLessThanOrEqual(100 * 1.2 + 3);
    expect(calls).toBeGreaterThan(100);
  });

  test("the first call to each target needs no retry budget", async () => {
    const shared = process({ retryBudget: new RetryBudget(clock, 0, 0) });
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        callTargets(
          shared,
          request([target("dead"), target("ok")], ({ channel }) =>
            channel.id === "ok" ? Promise.resolve("yes") : fail("unreachable"),
          ),
        ),
      ),
    );
    expect(replies.map(({ reply }) => reply)).toEqual(Array.from({ length: 20 }, () => "yes"));
  });

  test("repeated calls to one target take nothing from the retry budget of another", async () => {
    const shared = process({ retryBudget: new RetryBudget(clock, 0, 1) });
    await callTargets(
      shared,
      request([target("dead")], () => fail("overloaded")),
    ).catch(() => {});
    let calls = 0;
    const brief = request([target("brief")], () =>
      ++calls === 1 ? fail("unreachable") : Promise.resolve("yes"),
    );
    expect((await callTargets(shared, brief)).reply).toBe("yes");
  });

  test("the last call goes to a target that is not failing, however many stand in front of it", async () => {
    const shared = process({ retryBudget: new RetryBudget(clock, 0, 0) });
    const targets = ["dead1", "dead2", "dead3", "dead4", "ok"].map((id) => target(id));
    const callTarget = ({ channel }: Target): Promise<string> =>
      channel.id === "ok" ? Promise.resolve("yes") : fail("overloaded");
    const outcomes: string[] = [];
    for (let index = 0; index < 20; index++) {
      outcomes.push(
        await callTargets(shared, request(targets, callTarget)).then(
          ({ reply }) => reply,
          ({ kind }: UpstreamError) => kind,
        ),
      );
    }
    // The first two requests learn that four targets fail.
    expect(outcomes.slice(2)).toEqual(Array.from({ length: 18 }, () => "yes"));
  });

  test("a client that disconnects ends the wait before a repeated call", async () => {
    using _longestWait = spyOn(Math, "random").mockReturnValue(1);
    const client = new AbortController();
    const repeated = request([target("a")], () => fail("unreachable"), client.signal);
    const running = callTargets(process({ maxAttempts: 12, health: neverEjecting() }), repeated);
    while (repeated.attempts.length < 4) await Bun.sleep(5);
    client.abort();
    const abortedAt = performance.now();
    await expect(running).rejects.toBeInstanceOf(ClientDisconnected);
    // The pause before the fifth call would be 800 milliseconds.
    expect(performance.now() - abortedAt).toBeLessThan(400);
    expect(repeated.attempts).toHaveLength(4);
  });

  test("no call begins after the total time of the request", async () => {
    let now = 0;
    const own = process({ clock: { now: () => now, monotonic: () => now } });
    const failover = request([target("a"), target("b")], () => {
      now += 5000;
      return fail("broken");
    });
    await expect(callTargets(own, failover)).rejects.toMatchObject({ kind: "broken" });
    expect(failover.attempts).toHaveLength(1);
  });

  test("a client that disconnects ends the call and starts no other", async () => {
    const client = new AbortController();
    const failover = request([target("a"), target("b")], () => new Promise(() => {}), client.signal);
    const running = callTargets(process(), {
      ...failover,
      callTarget: (_, call) =>
        new Promise((_resolve, reject) =>
          call.signal.addEventListener("abort", () => reject(new Error("socket closed"))),
        ),
    });
    client.abort();
    await expect(running).rejects.toBeInstanceOf(ClientDisconnected);
    expect(failover.attempts.map(({ outcome }) => outcome)).toEqual(["caller_gone"]);
  });

  test("a passed deadline is an ambiguous timeout", async () => {
    const failover = request([target("a")], () => Promise.resolve(""));
    const running = callTargets(process({ maxAttempts: 1 }), {
      ...failover,
      callTarget: (_, call) => {
        call.expect("the first byte", 20);
        return new Promise((_resolve, reject) =>
          call.signal.addEventListener("abort", () => reject(call.signal.reason)),
        );
      },
    });
    await expect(running).rejects.toMatchObject({ kind: "timeout", isAmbiguous: true });
    expect(failover.attempts).toMatchObject([{ outcome: "timeout", isAmbiguous: true }]);
  });

  test("the total time of the channel, else of the family, bounds a call until it is released", async () => {
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
