import { z } from "zod";
import type { AdminContext } from "../context.ts";
import { createKey, getKey, listKeys, removeKey, rotateKey, updateKey } from "./keys.ts";
import { exampleCall } from "./example-call.ts";
import { operation } from "../operation.ts";
import { doneSchema, pageOf } from "../output.ts";
import {
  keyChangeSchema,
  keyCreationSchema,
  keyListSchema,
  keyRotationSchema,
  keySchema,
  listedKeySchema,
  type KeyRecord,
} from "./schema.ts";

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
    run: (context, input) => createKey(context, input),
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
    run: (context, { id }) => getKey(context, id),
  }),
  "keys.example": operation({
    method: "GET",
    path: "/keys/{id}/example",
    summary: "A model that would answer a call with the key now, for examples; null where none would",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: idSchema,
    output: z.object({ model: z.string().nullable(), kind: z.enum(["text", "image"]) }),
    run: (context, { id }) => exampleCall(context, id),
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
    run: (context, { id, ...change }) => updateKey(context, id, change),
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
    run: (context, { id, ...input }) => rotateKey(context, id, input),
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
  return keys.map((key) => ({
    ...key,
    lastUsedAt: lastUsed.get(key.id)?.chargedAt ?? null,
    lastSeenAt: lastUsed.get(key.id)?.seenAt ?? null,
    budgets: budgets.filter(({ keyId }) => keyId === key.id),
  }));
}
