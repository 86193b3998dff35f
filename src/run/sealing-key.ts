import { AdminError } from "../admin/admin-error.ts";
import { secretsOf } from "../admin/channels/entry.ts";
import type { SecretStore } from "../admin/configuration/store-port.ts";
import { currentKey, ensureMasterKey, type MasterKeys, openingKeys } from "../config/index.ts";
import { type MasterKey, sealedBy } from "../lib/seal.ts";

/**
 * Returns the master key that seals a new secret, and generates it where nothing is sealed yet. Throws an `AdminError`
 * where the stored secrets show that the key is missing here. The key of a running gateway is right even where it opens
 * none of them, because the gateway opens what it seals; a command must not seal what the gateway cannot open.
 */
export async function sealingKey(
  keys: MasterKeys,
  { store, isCommand }: { store: SecretStore; isCommand: boolean },
): Promise<MasterKey> {
  const current = currentKey(keys);
  if (current && !isCommand) return current;
  const stored = await keysInUse(store);
  const isKnown = openingKeys(keys).some(({ id }) => stored.has(id));
  if (stored.size === 0 || (current && isKnown)) return current ?? (await ensureMasterKey(keys));
  const present = current ? `the one here is ${current.id}` : "there is none here";
  const remedy = isCommand
    ? "set GATEWAY_MASTER_KEY as the gateway has it; where that key is lost, give the secret in the console or with --url, and the gateway seals it with its own"
    : "set GATEWAY_MASTER_KEY to that key, or to a new one where it is lost";
  throw new AdminError(
    409,
    null,
    `the stored secrets are sealed with master key ${[...stored].join(", ")}, and ${present}: ${remedy}`,
  );
}

/** Returns the ids of the master keys that have sealed the stored secrets. */
async function keysInUse({ configuration, members }: SecretStore): Promise<ReadonlySet<string>> {
  const entries = (await configuration.list()).flatMap(({ value }) =>
    secretsOf(value).map(([, sealed]) => sealed),
  );
  const factors = (await members.list()).flatMap(({ totp }) => (totp ? [totp.secret.sealed] : []));
  return new Set([...entries, ...factors].map(sealedBy).filter((id) => id !== null));
}
