import { z } from "zod";
import {
  createKey,
  getKey,
  keyChangeSchema,
  keyCreationSchema,
  keyRotationSchema,
  listKeys,
  removeKey,
  rotateKey,
  updateKey,
} from "./keys.ts";
import { operation } from "./operation.ts";
import { doneSchema, isoTime, isoTimeSchema, limitsViewSchema, pageOf } from "./output.ts";
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
    input: z.strictObject({ organizationId: z.string().optional() }),
    output: pageOf(keySchema),
    async run(context, { organizationId }) {
      return { data: (await listKeys(context, organizationId)).map(toView), next: null };
    },
  }),
  "keys.create": operation({
    method: "POST",
    path: "/keys",
    summary: "Create a key; its secret is in this response and nowhere else",
    role: "admin",
    reach: "organization",
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
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeKey(context, id);
      return { done: true as const };
    },
  }),
};

function toView({ hash: _hash, expiresAt, createdAt, ...shown }: KeyRecord): z.input<typeof keySchema> {
  return {
    ...shown,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    createdAt: isoTime(createdAt),
  };
}
