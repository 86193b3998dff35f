import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { newId } from "../../lib/ids.ts";
import { hashSecret, newSecret, secretPrefix } from "../../lib/secret.ts";
import { AdminError } from "../admin-error.ts";
import { requireModels, type AdminContext } from "../context.ts";
import { changeLimits, requireVersion } from "../input.ts";
import { toPage, readCursor, type Page } from "../paging.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import {
  keyChangeSchema,
  keyCreationSchema,
  keyListSchema,
  keyRotationSchema,
  type KeyRecord,
} from "./schema.ts";

/**
 * Creates a key. Only the result contains its secret; the store has only the hash and the first characters. `id` is
 * given for a key that is imported from another installation. `fixedSecret` is a secret that the operator has chosen,
 * which may lack the checksum of generated secrets. Throws 409 when any key has or had the given secret, or when the
 * organization's members may not create more keys.
 */
export async function createKey(
  context: AdminContext,
  input: z.output<typeof keyCreationSchema>,
  { id = newId("key"), fixedSecret }: { id?: string; fixedSecret?: string } = {},
): Promise<NewSecret> {
  const { organizationId, secret = fixedSecret ?? newSecret(), limits, scopes, ...fields } = input;
  await getOrganization(context, organizationId);
  await requireFewKeys(context, organizationId);
  checkKey(context, fields);
  const fresh = {
    ...fields,
    id,
    organizationId,
    prefix: secretPrefix(secret),
    hash: hashSecret(secret),
    scopes: [...new Set(scopes)],
    limits: changeLimits({}, limits),
    isDisabled: false,
    createdAt: context.clock.now(),
  };
  const key = await context.store.keys.create(fresh, context.by);
  if (!key) throw new AdminError(409, "secret", operatorMessage("error.key.secret", {}));
  return { secret, key };
}

interface NewSecret {
  secret: string;
  key: KeyRecord;
}

/** Returns the keys of one organization or of all, oldest first. */
export async function listKeys(
  context: AdminContext,
  input: z.output<typeof keyListSchema>,
): Promise<Page<KeyRecord>> {
  const { cursor, limit, state, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, after: readCursor(cursor), limit: limit + 1 };
  const inState = state && { name: state, now: context.clock.now() };
  return toPage(await context.store.keys.page({ ...page, state: inState }), limit);
}

/** Returns a key, or throws 404. */
export async function getKey(
  { store }: Pick<AdminContext, "store">,
  id: string,
  field = "id",
): Promise<KeyRecord> {
  const key = await store.keys.get(id);
  if (!key) throw new AdminError(404, field, operatorMessage("error.missing", { noun: "key", id }));
  return key;
}

/** Changes the fields that the input contains, for example `{isDisabled: true}`. Throws 404 for an unknown key. */
export async function updateKey(
  context: AdminContext,
  id: string,
  input: z.output<typeof keyChangeSchema>,
): Promise<KeyRecord> {
  const { limits, version, ...fields } = input;
  checkKey(context, fields);
  const after = await context.store.keys.update(
    id,
    (before) => {
      requireVersion(before, version);
      return { ...fields, limits: changeLimits(before.limits, limits ?? {}) };
    },
    context.by,
  );
  return after ?? (await getKey(context, id));
}

/**
 * Gives a key a new secret, which only the result contains. The previous secret is accepted for another `overlapMs`
 * milliseconds. Older secrets are accepted for at most the same time, and never longer than before the rotation. Throws
 * 404 for an unknown key.
 */
export async function rotateKey(
  context: AdminContext,
  id: string,
  input: z.output<typeof keyRotationSchema>,
): Promise<NewSecret> {
  const { overlapMs } = input;
  const secret = newSecret();
  const prefix = secretPrefix(secret);
  await context.store.keys.rotate(
    id,
    { prefix, hash: hashSecret(secret) },
    context.clock.now() + overlapMs,
    context.by,
  );
  return { secret, key: await getKey(context, id) };
}

/** Deletes a key. The ledger and the audit keep its id. Throws 404 for an unknown key. */
export async function removeKey(context: AdminContext, id: string): Promise<void> {
  if (!(await context.store.keys.remove(id, context.by))) await getKey(context, id);
}

async function requireFewKeys(context: AdminContext, organizationId: string): Promise<void> {
  if (decidesForAll(context)) return;
  if ((await context.store.keys.count(organizationId, MAX_OWN_KEYS)) < MAX_OWN_KEYS) return;
  const message = operatorMessage("error.key.most", { most: MAX_OWN_KEYS });
  throw new AdminError(409, null, message);
}

function checkKey(
  { catalogue, clock }: AdminContext,
  { models = "*", expiresAt = null }: Partial<Pick<KeyRecord, "models" | "expiresAt">>,
): void {
  if (models !== "*") for (const model of models) requireModels(catalogue, model, "models");
  if (expiresAt !== null && expiresAt <= clock.now())
    throw new AdminError(400, "expiresAt", operatorMessage("error.expired", {}));
}

/**
 * An organization's own members cannot create more keys when the organization has this many. Members of all
 * organizations can create any number.
 */
const MAX_OWN_KEYS = 10_000;
