import { expect, test } from "bun:test";
import type { Price } from "../../domain/price.ts";
import type { AdminContext } from "../context.ts";
import { priceConsequence } from "./consequence.ts";
import type { PriceEffect } from "./effect.ts";
import type { PriceRecord } from "./store-port.ts";

const EURO = 1_000_000_000n;

test("images of a week with more charges than are read are divided like the newest charges", async () => {
  const context = {
    clock: { now: () => 0 },
    store: {
      usage: { sums: async () => [sum("busy", 1_000), sum("quiet", 8)] },
      ledger: { list: async () => [charge("busy", 1, "low"), charge("busy", 3, "high")] },
    },
  } as unknown as AdminContext;
  const concerned = ["busy", "quiet"].map((organization) => ({
    organization,
    before: priced({ "*": 1n }),
    after: priced({ low: 10n, high: 2n }),
  }));
  const row = { model: "image", currency: "EUR", price: { unit: "image" } } as PriceRecord;
  const { lastWeek } = await priceConsequence(context, row, { concerned } as unknown as PriceEffect);
  expect(lastWeek).toEqual({ before: "1008.00", after: "4032.00" });
});

const sum = (organizationId: string, images: number) => ({ organizationId, currency: "EUR", images });

const charge = (organizationId: string, count: number, quality: string) => ({
  organizationId,
  usage: { unit: "image", count, tier: "1K", quality },
});

function priced(amounts: Readonly<Record<string, bigint>>): Price {
  const cells = Object.entries(amounts).map(([quality, amount]) => {
    return [quality, { amount: amount * EURO, source: "default", effectiveFrom: 0 }];
  });
  return { unit: "image", currency: "EUR", perImage: { "1K": Object.fromEntries(cells) } };
}
