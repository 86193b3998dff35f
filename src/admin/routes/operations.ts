import { z } from "zod";
import { priceOrigin, priceStart } from "../../domain/price.ts";
import { formatNanos } from "../../lib/money.ts";
import { explainRoute, type RouteExplanation } from "./explain-route.ts";
import { targetReasoningSchema } from "../input.ts";
import { operation } from "../operation.ts";
import {
  amountViewSchema,
  doneSchema,
  isoTimeSchema,
  operatorMessageFields,
  pageOf,
  versionViewSchema,
} from "../output.ts";
import { pageByName, pageFields } from "../paging.ts";
import { namedRates } from "../prices/cells.ts";
import { listRoutes, removeRoute, routeDraftSchema, routeSchema, setRoute } from "./routes.ts";

const targetSchema = z.object({
  channel: z.string(),
  upstreamModel: z.string().describe("The vendor's name of the model"),
  weight: z.int(),
  reasoning: targetReasoningSchema,
});

const routeViewSchema = z.object({
  model: z.string(),
  source: z.enum(["organization", "default"]).describe("The organization's own route, or the configured one"),
  strategy: z.enum(["ordered", "weighted"]),
  targets: z.array(targetSchema),
  version: versionViewSchema.describe("Of the organization, whose row its routes are in"),
});

const explanationSchema = z.object({
  organization: z.string(),
  key: z.string().nullable(),
  model: z.string(),
  source: z.enum(["organization", "default", "draft"]),
  missingChannel: z
    .string()
    .nullable()
    .describe("A channel that the organization's own route names but that is not configured"),
  strategy: z.enum(["ordered", "weighted"]),
  targets: z
    .array(
      targetSchema.extend({
        name: z.string(),
        provider: z.string(),
        share: z.number().describe("Part of the requests that call it first, from 0 to 1"),
        ejection: z
          .object({
            organization: z.string().nullable(),
            reason: z.enum(["overload", "account", "limited"]),
            durationMs: z.number(),
          })
          .nullable()
          .describe("Why it is skipped, and for how long"),
      }),
    )
    .describe("In the order of calls"),
  price: z
    .object({
      unit: z.enum(["image", "token"]),
      currency: z.string(),
      source: z.enum(["organization", "default"]),
      effectiveFrom: isoTimeSchema.nullable(),
      amounts: z.array(z.object({ cell: z.string(), amount: amountViewSchema })),
    })
    .nullable(),
  refusal: z
    .object({
      code: z.string(),
      message: z.string().describe("What the caller would be told"),
      reason: z.object(operatorMessageFields).nullable().describe("The same for operators"),
    })
    .nullable(),
  verdict: z.string(),
});

const listSchema = z.strictObject({
  organizationId: z.string(),
  model: z.string().optional(),
  ...pageFields,
});

const nameSchema = z.strictObject({ organizationId: z.string(), model: z.string() });

export const routeOperations = {
  "routes.list": operation({
    method: "GET",
    path: "/routes",
    summary: "The routes in force for an organization, by model",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: listSchema,
    output: pageOf(routeViewSchema),
    async run(context, { organizationId, model, ...page }) {
      return pageByName(await listRoutes(context, organizationId, model), page, (route) => route.model);
    },
  }),
  "routes.set": operation({
    method: "PUT",
    path: "/routes",
    summary: "Give an organization its own route for a model",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: routeSchema,
    output: routeViewSchema,
    run: setRoute,
  }),
  "routes.remove": operation({
    method: "DELETE",
    path: "/routes",
    summary: "Return a model to the configured route",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: nameSchema,
    output: doneSchema,
    async run(context, { organizationId, model }) {
      await removeRoute(context, organizationId, model);
      return { done: true as const };
    },
  }),
  "routes.explain": operation({
    method: "POST",
    path: "/routes/explain",
    summary: "Which target would serve a request, by the saved route or a draft, and why; sends nothing",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: nameSchema.extend({
      keyId: z.string().optional().describe("As if called with this key"),
      draft: routeDraftSchema.optional().describe("A route that is not saved, in place of the saved one"),
    }),
    output: explanationSchema,
    async run(context, { organizationId: organization, keyId: key, model, draft }) {
      const health = context.running?.ejections() ?? [];
      return toExplanation(await explainRoute(context, { organization, key, model, draft, health }));
    },
  }),
};

function toExplanation({ price, ...shown }: RouteExplanation): z.input<typeof explanationSchema> {
  if (!price) return { ...shown, price };
  const { source, effectiveFrom } = priceOrigin(price);
  const amounts = namedRates(price).map(({ name, value }) => ({
    cell: name,
    amount: formatNanos(value.amount),
  }));
  const { unit, currency } = price;
  return { ...shown, price: { unit, currency, source, effectiveFrom: priceStart(effectiveFrom), amounts } };
}
