import { expect, test } from "bun:test";
import type { Attempt } from "../../domain/ledger.ts";
import type { ImagePrice } from "../../domain/price.ts";
import type { ImageUsage } from "../../domain/usage.ts";
import { chargeEntry, type ChargeFacts } from "./entry.ts";
import { NO_HOLD } from "./budget-leases.ts";

const price: ImagePrice = {
  unit: "image",
  currency: "USD",
  perImage: { "1K": { "*": { amount: 40n, source: "default", effectiveFrom: 0 } } },
};
const usage: ImageUsage = { unit: "image", count: 1, tier: "1K", quality: "auto" };

function entryAfter(outcomes: Partial<Attempt>[], used: ImageUsage = usage): ReturnType<typeof chargeEntry> {
  const attempts = outcomes.map((outcome) => ({
    channel: "c",
    upstreamModel: "m",
    durationMs: 1,
    ...outcome,
  }));
  const context = {
    id: "req_1",
    requestId: "req_1",
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

test("an amount that no ledger takes is an error", () => {
  expect(() => entryAfter([], { ...usage, count: 2 ** 55 })).toThrow(RangeError);
});

test("a usage that the price does not cover is an error and never free", () => {
  expect(() => entryAfter([], { ...usage, tier: "2K" })).toThrow("has no rate for 2K:auto");
});
