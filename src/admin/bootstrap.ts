import { newId } from "../lib/ids.ts";
import { hashSecret, secretPrefix } from "../lib/secret.ts";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { createKey } from "./keys/keys.ts";
import { isOwner } from "./members/members.ts";
import { createOrganization } from "./organizations/organizations.ts";
import { generatePassword, hashPassword, isPassword } from "./sign-in/passwords.ts";
import { keyCreationSchema } from "./keys/schema.ts";
import { organizationCreationSchema } from "./organizations/schema.ts";

/**
 * Values that the operator has fixed in the configuration, already checked. Null lets the first start generate a value.
 */
export interface BootstrapInput {
  key: string | null;
  administratorPassword: string | null;
}

/** Values that the start prints. Contains only the secrets that this start has generated. */
export interface BootstrapResult {
  organizationId: string;
  administrator: { name: string; password: string | null };
  /**
   * `secret` is null when the operator has set the key or when a key exists already. `prefix` is the beginning of the
   * secret.
   */
  key: { secret: string | null; prefix: string | null };
}

/**
 * Makes sure that there are an organization, an administrator and a key. A second run changes only values that the
 * operator has changed. Only one process may make the first start, because each process would generate a key.
 */
export async function bootstrap(context: AdminContext, input: BootstrapInput): Promise<BootstrapResult> {
  await ensureOrganization(context);
  return {
    organizationId: ORGANIZATION_ID,
    administrator: { name: ADMINISTRATOR, password: await ensureAdministrator(context, input) },
    key: await ensureKey(context, input.key),
  };
}

export const ORGANIZATION_ID = "default";
const ADMINISTRATOR = "admin";

async function ensureOrganization(context: AdminContext): Promise<void> {
  const isThere = async () => (await context.store.organizations.get(ORGANIZATION_ID)) !== null;
  if (await isThere()) return;
  await unlessDoneByAnother(isThere, () =>
    createOrganization(
      context,
      readInput(organizationCreationSchema, { id: ORGANIZATION_ID, name: "Default organization" }),
    ),
  );
}

/**
 * Creates the administrator if there is no owner. Sets the configured password if the administrator has another one.
 * Returns the generated password; null if none was generated.
 */
async function ensureAdministrator(context: AdminContext, input: BootstrapInput): Promise<string | null> {
  const { members } = context.store;
  const fixed = input.administratorPassword;
  const known = await members.find({ name: ADMINISTRATOR });
  if (known) {
    if (fixed !== null && !(await isPassword(fixed, known.passwordHash))) {
      const passwordHash = await hashPassword(fixed);
      const note = { by: context.by, action: "reset password" } as const;
      await members.update(known.id, () => ({ passwordHash, mustChangePassword: false }), note);
    }
    return null;
  }
  // Any owner is enough, because owners may have removed the administrator of the first start.
  if ((await members.list()).some(isOwner)) return null;
  const password = fixed ?? generatePassword();
  const administrator = {
    id: newId("user"),
    name: ADMINISTRATOR,
    email: null,
    role: "owner",
    organizations: "*",
    isDisabled: false,
    passwordHash: await hashPassword(password),
    mustChangePassword: false,
    totp: null,
    identity: null,
    lastSeenAt: null,
    createdAt: context.clock.now(),
  } as const;
  const isCreated = await members.create(administrator, context.by);
  return isCreated && fixed === null ? password : null;
}

async function ensureKey(context: AdminContext, fixed: string | null): Promise<BootstrapResult["key"]> {
  const fields = readInput(keyCreationSchema, { organizationId: ORGANIZATION_ID, name: "First key" });
  if (fixed !== null) {
    const hash = hashSecret(fixed);
    const { keys } = context.store;
    // A key that was rotated or deleted must not become valid again after a restart.
    const isThere = async () => (await keys.findByHash(hash)) !== null || (await keys.isRetired(hash));
    if (!(await isThere()))
      await unlessDoneByAnother(isThere, () => createKey(context, fields, { fixedSecret: fixed }));
    return { secret: null, prefix: secretPrefix(fixed) };
  }
  const [first] = await context.store.keys.list(ORGANIZATION_ID, 1);
  if (first) return { secret: null, prefix: first.prefix };
  const { secret, key } = await createKey(context, fields);
  return { secret, prefix: key.prefix };
}

/** Runs the work. Ignores an error when another machine that starts at the same time has done the work. */
async function unlessDoneByAnother(
  isDone: () => Promise<boolean>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(await isDone())) throw error;
  }
}
