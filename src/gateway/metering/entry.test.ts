import { expect, test } from "bun:test";
import type { Attempt } from "../../domain/ledger.ts";
import type { ImagePrice } from "../../domain/price.ts";
import type { ImageUsage } from "../../domain/usage.ts";
import { chargeEntry, type ChargeFacts } from "./entry.ts";
import { NO_HOLD } from "./budget-leases.ts";

const price: ImagePrice = {
  unit: "image",
  currency: "USD",
  source: "default",
  effectiveFrom: 0,
  perImage: { "1K": { "*": 40n } },
};
const usage: ImageUsage = { unit: "image", count: 1, tier: "1K", quality: "auto" };

function entryAfter(outcomes: Partial<Attempt>[]): ReturnType<typeof chargeEntry> {
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
    usage,
    requested,
    flags: [],
    at: 0,
  });
}

test("what was delivered is charged, and nothing more is noted when no attempt is in doubt", () => {
  const entry = entryAfter([{ outcome: "unreachable" }, { outcome: "answered" }]);
  expect(entry).toMatchObject({ amount: 40n, orphanCost: 0n, channel: "second" });
});

test("each attempt in doubt is noted with the price of all that was asked for", () => {
  const inDoubt = { outcome: "timeout", isAmbiguous: true } as const;
  expect(entryAfter([inDoubt, inDoubt, { outcome: "answered" }])).toMatchObject({
    amount: 40n,
    orphanCost: 320n,
  });
});
