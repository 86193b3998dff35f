import { expect, test } from "bun:test";
import { type Target, targetName } from "../../domain/channel.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { Health, type TargetChange } from "./health.ts";

const TARGET: Target = {
  channel: { id: "channel", provider: "openai", settings: {} },
  upstreamModel: "model",
  weight: 1,
};
const DOWN = new UpstreamError("overloaded", "down");

function healthAt() {
  let now = 1_000;
  const health = new Health({ now: () => 0, monotonic: () => now });
  return {
    health,
    pass: (milliseconds: number) => void (now += milliseconds),
    fail(organization: string, times: number, error = DOWN) {
      for (let failure = 0; failure < times; failure += 1) health.failed(TARGET, organization, error);
    },
    limited: (retryAfterSeconds: number) => new UpstreamError("limited", "429", { retryAfterSeconds }),
  };
}

test("failures of calls begun before an ejection do not lengthen it", () => {
  const { health, pass, fail } = healthAt();
  fail("a", 50);
  expect(health.waitMs(TARGET, "a")).toBe(1_000);
  pass(1_000);
  expect(health.tryCall(TARGET, "a")).toBe(true);
  fail("a", 1);
  expect(health.waitMs(TARGET, "a")).toBe(2_000);
});

test("a target that fails every probe is called again within half a minute", () => {
  const { health, pass, fail } = healthAt();
  fail("a", 5);
  for (let probe = 0; probe < 20; probe += 1) {
    pass(health.waitMs(TARGET, "a"));
    expect(health.tryCall(TARGET, "a")).toBe(true);
    expect(health.tryCall(TARGET, "a")).toBe(false);
    fail("a", 1);
  }
  expect(health.waitMs(TARGET, "a")).toBe(30_000);
});

test("failures of one organization eject a target for that organization only", () => {
  const { health, pass, fail } = healthAt();
  for (let round = 0; round < 10; round += 1) {
    fail("a", 5);
    expect(health.isAvailable(TARGET, "a")).toBe(false);
    expect(health.isAvailable(TARGET, "b")).toBe(true);
    pass(health.waitMs(TARGET, "a"));
    health.tryCall(TARGET, "a");
  }
  health.succeeded(TARGET, "b");
  expect(health.ejections().map(({ organization }) => organization)).toEqual(["a"]);
});

test("failures in a row of two organizations eject a target for everyone, until a probe succeeds", () => {
  const { health, pass, fail } = healthAt();
  fail("a", 3);
  fail("b", 2);
  expect(health.isAvailable(TARGET, "c")).toBe(false);
  pass(1_000);
  expect(health.tryCall(TARGET, "c")).toBe(true);
  expect(health.tryCall(TARGET, "a")).toBe(false);
  fail("c", 1);
  expect(health.waitMs(TARGET, "a")).toBe(2_000);
  pass(2_000);
  expect(health.tryCall(TARGET, "a")).toBe(true);
  health.succeeded(TARGET, "a");
  for (const organization of ["a", "b", "c"]) expect(health.isAvailable(TARGET, organization)).toBe(true);
});

test("probes of an organization that fails by itself keep the others out for a second at most", () => {
  const { health, pass, fail } = healthAt();
  fail("a", 5);
  fail("b", 1);
  for (let probe = 0; probe < 6; probe += 1) {
    expect(health.waitMs(TARGET, "b")).toBeLessThanOrEqual(1_000);
    pass(health.waitMs(TARGET, "a"));
    health.tryCall(TARGET, "a");
    fail("a", 1);
  }
});

test.each<UpstreamErrorKind>(["rejected", "refused"])("a %s request says nothing of its target", (kind) => {
  const { health, fail } = healthAt();
  fail("a", 10, new UpstreamError(kind, kind));
  fail("b", 10, new UpstreamError(kind, kind));
  expect(health.ejections()).toEqual([]);
});

test("each change of a target's state is told once, with its reason and how long it lasted", () => {
  const changes: TargetChange[] = [];
  let now = 1_000;
  const clock = { now: () => 0, monotonic: () => now };
  const health = new Health(clock, undefined, (change) => changes.push(change));
  const account = new UpstreamError("account", "no credit");
  health.failed(TARGET, "a", account);
  health.failed(TARGET, "a", account);
  now += 61_000;
  health.succeeded(TARGET, "b");
  health.succeeded(TARGET, "b");
  for (let call = 0; call < 5; call += 1)
    health.failed(TARGET, "a", new UpstreamError("overloaded", "overloaded"));
  health.forgetChannels(["channel"]);
  const target = targetName(TARGET);
  expect(changes).toEqual([
    { target, organization: null, reason: "account", isUp: false, lastedMs: 0 },
    { target, organization: null, reason: "account", isUp: true, lastedMs: 61_000 },
    { target, organization: "a", reason: "overload", isUp: false, lastedMs: 0 },
    { target, organization: "a", reason: "overload", isUp: true, lastedMs: 0 },
  ]);
});

test("a refused account ejects a target at once for everyone", () => {
  const { health, fail } = healthAt();
  fail("a", 1, new UpstreamError("account", "no credit"));
  expect(health.waitMs(TARGET, "b")).toBe(60_000);
});

test("a vendor's limit holds for the organization that met it, and for everyone once a second one has", () => {
  const { health, fail, limited } = healthAt();
  fail("a", 3, limited(20));
  expect(health.waitMs(TARGET, "a")).toBe(20_000);
  expect(health.isAvailable(TARGET, "b")).toBe(true);
  fail("b", 1, limited(10));
  expect(health.waitMs(TARGET, "c")).toBe(10_000);
});

test("a probe without an outcome makes way for another one", () => {
  const { health, pass, fail } = healthAt();
  fail("a", 5);
  pass(1_000);
  expect(health.tryCall(TARGET, "a")).toBe(true);
  expect(health.tryCall(TARGET, "a")).toBe(false);
  health.abandoned(TARGET, "a");
  expect(health.tryCall(TARGET, "a")).toBe(true);
});

test("a successful probe resets a target for its organization", () => {
  const { health, pass, fail } = healthAt();
  fail("a", 5);
  pass(1_000);
  health.tryCall(TARGET, "a");
  health.succeeded(TARGET, "a");
  expect(health.tryCall(TARGET, "a")).toBe(true);
  expect(health.isSuspect(TARGET, "a")).toBe(false);
  expect(health.ejections()).toEqual([]);
});
