import { z } from "zod";
import { parseAddressList } from "../lib/cidr.ts";
import { newId } from "../lib/ids.ts";
import { hashSecret, isFixableSecret, newSecret, secretPrefix } from "../lib/secret.ts";
import { AdminError } from "./admin-error.ts";
import { requireModel, type AdminContext } from "./context.ts";
import { changeLimits, limitsSchema, nameSchema, readInput } from "./input.ts";
import { getOrganization } from "./organizations.ts";
import type { KeyRecord } from "./ports.ts";

/** Creates a key. Its secret is in the answer and nowhere else: only the hash is stored. */
export async function createKey(
  context: AdminContext,
  input: unknown,
): Promise<{ secret: string; key: KeyRecord }> {
  const parsed = readInput(creationSchema, input);
  const { organizationId, name, scopes, models, addresses, expiresAt } = parsed;
  await getOrganization(context, organizationId);
  if (models !== "*") for (const model of models) requireModel(context.catalogue, model, "models");
  const now = context.clock.now();
  if (expiresAt !== null && expiresAt <= now)
    throw new AdminError(400, "expiresAt", "expiresAt lies in the past");
  const secret = parsed.secret ?? newSecret();
  const key: KeyRecord = {
    id: newId("key"),
    organizationId,
    name,
    prefix: secretPrefix(secret),
    hash: hashSecret(secret),
    scopes: [...new Set(scopes)],
    models,
    addresses,
    limits: changeLimits({}, parsed.limits),
    isDisabled: false,
    expiresAt,
    createdAt: now,
  };
  await context.store.keys.create(key, context.by);
  return { secret, key };
}

/** Keys of one organization, or of all. */
export async function listKeys(context: AdminContext, organizationId?: string): Promise<KeyRecord[]> {
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  return await context.store.keys.list(organizationId);
}

/** The key, or a 404. */
export async function getKey(
  { store }: Pick<AdminContext, "store">,
  id: string,
  field = "id",
): Promise<KeyRecord> {
  const key = await store.keys.get(id);
  if (!key) throw new AdminError(404, field, `there is no key "${id}"`);
  return key;
}

/** Changes what the input names, for example `{isDisabled: true}`. Throws 404 for an unknown key. */
export async function updateKey(context: AdminContext, id: string, input: unknown): Promise<KeyRecord> {
  const change = readInput(changeSchema, input);
  const before = await getKey(context, id);
  if (change.models && change.models !== "*")
    for (const model of change.models) requireModel(context.catalogue, model, "models");
  const { limits, ...fields } = change;
  const changed = { ...fields, ...(limits && { limits: changeLimits(before.limits, limits) }) };
  await context.store.keys.update(id, changed, context.by);
  return { ...before, ...changed };
}

const scopesSchema = z.array(z.enum(["ai:*", "ai:image", "ai:llm"])).min(1);
const modelsSchema = z.union([z.literal("*"), z.array(z.string())], {
  error: 'must be "*" or a list of model ids',
});
const addressesSchema = z
  .array(z.string().refine(isAddress, { error: "must be an address or a network such as 10.0.0.0/8" }))
  .min(1)
  .nullable();
const expirySchema = z.int().min(0).nullable();

const creationSchema = z.strictObject({
  organizationId: z.string(),
  name: nameSchema,
  scopes: scopesSchema.default(["ai:*"]),
  models: modelsSchema.default("*"),
  addresses: addressesSchema.default(null),
  limits: limitsSchema.default({}),
  expiresAt: expirySchema.default(null),
  secret: z
    .string()
    .refine(isFixableSecret, { error: 'must be "gk_" and 20 to 200 letters, digits, "-" or "_"' })
    .optional(),
});

const changeSchema = z
  .strictObject({
    name: nameSchema,
    scopes: scopesSchema,
    models: modelsSchema,
    addresses: addressesSchema,
    limits: limitsSchema,
    isDisabled: z.boolean(),
    expiresAt: expirySchema,
  })
  .partial();

function isAddress(text: string): boolean {
  try {
    parseAddressList([text]);
    return true;
  } catch {
    return false;
  }
}
