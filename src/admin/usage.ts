import { z } from "zod";
import { TOKEN_CATEGORIES } from "../domain/usage.ts";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { isoTime } from "./output.ts";
import { queryTimeSchema } from "./query-input.ts";
import type { usageSchema } from "./usage-schemas.ts";

export const usageInputSchema = z.strictObject({
  groupBy: z.enum(["model", "key", "organization", "channel"]).default("model"),
  interval: z.enum(["hour", "day", "month"]).optional().describe("By default the finest that stays readable"),
  from: queryTimeSchema.optional().describe("By default 30 days before `to`"),
  to: queryTimeSchema.optional().describe("Exclusive; now by default"),
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  channel: z.string().optional(),
  currency: z.string().optional().describe("By default the one most was spent in"),
});

/** Usage of a range: in all, over time, and by group. */
export async function readUsage(context: AdminContext, input: unknown): Promise<z.input<typeof usageSchema>> {
  const { from, to } = readInput(usageInputSchema, input);
  const end = to ?? context.clock.now();
  const tokensByCategory = Object.fromEntries(TOKEN_CATEGORIES.map((category) => [category, 0])) as Record<
    (typeof TOKEN_CATEGORIES)[number],
    number
  >;
  const money = { amount: "0.00", orphanCost: "0.00", vendorCost: "0.00", margin: "0.00" };
  return {
    from: isoTime(from ?? end - 30 * 24 * 60 * 60_000),
    to: isoTime(end),
    interval: "day",
    currency: "USD",
    currencies: [],
    totals: { ...money, requests: 0, images: 0, tokens: 0, tokensByCategory },
    series: [],
    groups: [],
  };
}
