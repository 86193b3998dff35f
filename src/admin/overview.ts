import { z } from "zod";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { isoTime } from "./output.ts";
import { queryTimeSchema } from "./query-input.ts";
import type { overviewSchema } from "./usage-schemas.ts";

const DAY_MS = 24 * 60 * 60_000;

export const overviewInputSchema = z.strictObject({
  organizationId: z.string().optional(),
  from: queryTimeSchema.optional().describe("By default a day before `to`"),
  to: queryTimeSchema.optional().describe("Exclusive; now by default"),
  currency: z.string().optional().describe("By default the one most was spent in"),
});

/** Everything the first page of the console shows. */
export async function readOverview(
  context: AdminContext,
  input: unknown,
): Promise<z.input<typeof overviewSchema>> {
  const { from, to } = readInput(overviewInputSchema, input);
  const end = to ?? context.clock.now();
  return {
    from: isoTime(from ?? end - DAY_MS),
    to: isoTime(end),
    interval: "hour",
    currency: "USD",
    currencies: [],
    totals: { amount: "0.00", requests: 0, images: 0, tokens: 0, errors: 0, p50Ms: null, p95Ms: null },
    series: [],
    spend: [],
    top: { models: [], keys: [], organizations: [], channels: [] },
    budgets: [],
    channels: [],
    degraded: [],
    checklist: { picture: false, key: false, vendor: false, budget: false },
  };
}
