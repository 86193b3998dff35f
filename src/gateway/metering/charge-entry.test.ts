import { expect, test } from "bun:test";
import { marginOf, type Attempt } from "../../domain/ledger.ts";
import type { ImagePrice } from "../../domain/price.ts";
import type { ImageUsage, TokenUsage } from "../../domain/usage.ts";
import { chargeEntry, type ChargeFacts } from "./billing.ts";
import { BudgetLease } from "./budget-lease.ts";
import { NO_HOLD } from "./budget-leases.ts";

const price: ImagePrice = {
  unit: "image",
  currency: "USD",
  perImage: { "1K": { "*": { amount: 40n, source: "default", effectiveFrom: 0 } } },
};
const usage: ImageUsage = { unit: "image", count: 1, tier: "1K", quality: "auto" };

function entryAfter(
  outcomes: Partial<Attempt>[],
  used: ImageUsage = usage,
  facts: Partial<ChargeFacts> = {},
): ReturnType<typeof chargeEntry> {
  const attempts = outcomes.map((outcome) => ({
    channel: "c",
    upstreamModel: "m",
    durationMs: 1,
    ...outcome,
  }));
  const context = {
    id: "req_1",
    requestId: "req_caller",
    attempts,
    principal: { organization: { id: "org" }, key: { id: "key" } },
  } as unknown as ChargeFacts["context"];
  const target = { channel: { id: "second" }, upstreamModel: "m" } as ChargeFacts["target"];
  const requested = { ...usage, count: 4 };
  return chargeEntry({
    context,
    model: "m",
    price,
    hold: NO_HOLD,
    target,
    usage: used,
    requested,
    admittedAt: 3,
    flags: [],
    at: 7,
    ...facts,
  });
}

test("what was delivered is charged, without orphan cost when no attempt was ambiguous", () => {
  const entry = entryAfter([{ outcome: "unreachable" }, { outcome: "answered" }]);
  expect(entry).toMatchObject({ amount: 40n, orphanCost: 0n, channel: "second" });
});

test("each ambiguous attempt is recorded with the price of all that was requested", () => {
  const ambiguous = { outcome: "timeout", isAmbiguous: true } as const;
  expect(entryAfter([ambiguous, ambiguous, { outcome: "answered" }])).toMatchObject({
    amount: 40n,
    orphanCost: 320n,
  });
});

test("an entry has the time of admission, at which its price was taken", () => {
  expect(entryAfter([])).toMatchObject({ admittedAt: 3, at: 7, priceSource: "default" });
});

test("an entry has the gateway's own id, as callers may repeat theirs", () => {
  expect(entryAfter([])).toMatchObject({ id: "req_1", requestId: "req_caller" });
});

test("a charge is booked on every budget that was held, and flagged when it is above its hold", () => {
  const leases = [new BudgetLease("budget_1"), new BudgetLease("budget_2")];
  const budgets = ["budget_1", "budget_2"];
  expect(entryAfter([], usage, { hold: { amount: 40n, leases } })).toMatchObject({ budgets, flags: [] });
  expect(entryAfter([], usage, { hold: { amount: 39n, leases } }).flags).toEqual(["over_hold"]);
  expect(entryAfter([])).toMatchObject({ budgets: [], flags: [] });
});

test("an estimated or anomalous usage is flagged", () => {
  const rate = { amount: 1_000_000n, source: "default", effectiveFrom: 0 } as const;
  const tokens = { unit: "token", currency: "USD", perMillion: { input: rate, output: rate } } as const;
  const flagsOf = (fields: Partial<TokenUsage>) => {
    const used: TokenUsage = { unit: "token", tokens: { input: 1 }, source: "upstream", ...fields };
    return entryAfter([], usage, { price: tokens, usage: used, requested: undefined }).flags;
  };
  expect(flagsOf({})).toEqual([]);
  expect(flagsOf({ source: "estimated" })).toEqual(["estimated"]);
  expect(flagsOf({ anomalous: true })).toEqual(["anomalous"]);
});

test("an amount too large for the ledger is an error", () => {
  expect(() => entryAfter([], { ...usage, count: 2 ** 55 })).toThrow(RangeError);
});

test("a usage that the price does not cover is an error and never free", () => {
  expect(() => entryAfter([], { ...usage, tier: "2K" })).toThrow("has no rate for 2K:auto");
});

test("the vendor's cost stands beside the charge and does not change it", () => {
  const vendorCost = { amount: 1_000_000n, currency: "USD" };
  const entry = entryAfter([], { ...usage, vendorCost });
  expect(entry).toEqual({ ...entryAfter([]), vendorCost });
  expect(entry.usage).not.toHaveProperty("vendorCost");
  expect(marginOf(entry)).toBe(40n - 1_000_000n);
  expect(marginOf({ ...entry, currency: "EUR" })).toBeNull();
  expect(marginOf(entryAfter([]))).toBeNull();
});
