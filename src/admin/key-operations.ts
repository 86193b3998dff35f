import { z } from "zod";
import { formatNanos } from "../lib/money.ts";
import type { AdminContext } from "./context.ts";
import {
  createKey,
  getKey,
  keyChangeSchema,
  keyCreationSchema,
  keyListSchema,
  keyRotationSchema,
  listKeys,
  removeKey,
  rotateKey,
  updateKey,
} from "./keys.ts";
import { operation } from "./operation.ts";
import {
  amountViewSchema,
  doneSchema,
  isoTime,
  isoTimeSchema,
  limitsViewSchema,
  pageOf,
  versionViewSchema,
} from "./output.ts";
import type { KeyRecord } from "./ports.ts";

const keySchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  prefix: z.string().describe("First characters of the secret"),
  scopes: z.array(z.enum(["ai:*", "ai:image", "ai:llm"])),
  models: z.union([z.literal("*"), z.array(z.string())]),
  addresses: z.array(z.string()).nullable(),
  limits: limitsViewSchema,
  isDisabled: z.boolean(),
  expiresAt: isoTimeSchema.nullable(),
  createdAt: isoTimeSchema,
  version: versionViewSchema,
});

/** In lists, where it costs one look-up for all of them. */
const listedKeySchema = keySchema.extend({
  lastUsedAt: isoTimeSchema.nullable().describe("When it was last charged for a request"),
  budgets: z.array(
    z.object({
      id: z.string(),
      amount: amountViewSchema,
      spent: amountViewSchema,
      period: z.enum(["total", "day", "month"]),
    }),
  ),
});

const newSecretSchema = z.object({ secret: z.string().describe("Shown only now"), key: keySchema });

const idSchema = z.strictObject({ id: z.string() });

export const keyOperations = {
  "keys.list": operation({
    method: "GET",
    path: "/keys",
    summary: "Keys, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: keyListSchema,
    output: pageOf(listedKeySchema),
    async run(context, input) {
      const { data, next } = await listKeys(context, input);
      return { data: await withUse(context, data), next };
    },
  }),
  "keys.create": operation({
    method: "POST",
    path: "/keys",
    summary: "Create a key; its secret is in this response and nowhere else",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: keyCreationSchema,
    output: newSecretSchema,
    async run(context, input) {
      const { secret, key } = await createKey(context, input);
      return { secret, key: toView(key) };
    },
  }),
  "keys.get": operation({
    method: "GET",
    path: "/keys/{id}",
    summary: "One key",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: keySchema,
    run: async (context, { id }) => toView(await getKey(context, id)),
  }),
  "keys.update": operation({
    method: "PATCH",
    path: "/keys/{id}",
    summary: "Change what the body names; everything else stays",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: keyChangeSchema.extend(idSchema.shape),
    output: keySchema,
    run: async (context, { id, ...change }) => toView(await updateKey(context, id, change)),
  }),
  "keys.rotate": operation({
    method: "POST",
    path: "/keys/{id}/rotate",
    summary: "Give a key another secret; the earlier one is accepted for `overlapMs` more",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: keyRotationSchema.extend(idSchema.shape),
    output: newSecretSchema,
    async run(context, { id, ...input }) {
      const { secret, key } = await rotateKey(context, id, input);
      return { secret, key: toView(key) };
    },
  }),
  "keys.remove": operation({
    method: "DELETE",
    path: "/keys/{id}",
    summary: "Delete a key for good; the ledger and the audit keep its id",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeKey(context, id);
      return { done: true as const };
    },
  }),
};

async function withUse({ store }: AdminContext, keys: readonly KeyRecord[]) {
  const ids = keys.map(({ id }) => id);
  const [lastUsed, budgets] = await Promise.all([store.keys.lastUsed(ids), store.budgets.ofKeys(ids)]);
  return keys.map((key) => {
    const at = lastUsed.get(key.id);
    return {
      ...toView(key),
      lastUsedAt: at === undefined ? null : isoTime(at),
      budgets: budgets
        .filter(({ keyId }) => keyId === key.id)
        .map(({ id, amount, spent, period }) => ({
          id,
          amount: formatNanos(amount),
          spent: formatNanos(spent),
          period,
        })),
    };
  });
}

function toView({ hash: _hash, expiresAt, createdAt, ...shown }: KeyRecord): z.input<typeof keySchema> {
  return {
    ...shown,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    createdAt: isoTime(createdAt),
  };
}
