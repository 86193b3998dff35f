import { isSealed, secretsOf } from "../channels/entry.ts";
import type { EntryValue, SealedSecret, StoredEntry } from "./store-port.ts";
import type { OperationContext } from "../context.ts";
import { secretName } from "../sign-in/totp.ts";

/** The number of secrets that were written anew, and the secrets that no key in this process can open. */
interface Resealed {
  resealed: number;
  failed: { kind: "channel" | "model" | "member"; id: string; field: string }[];
}

/**
 * Encrypts the stored secrets of channels, models and members with the current master key, after a change of the key.
 * The previous key is given as GATEWAY_MASTER_KEY_PREVIOUS. Secrets that no key opens stay unchanged.
 */
export async function resealSecrets({ store, configuration, by }: OperationContext): Promise<Resealed> {
  const result: Resealed = { resealed: 0, failed: [] };
  for (const entry of await store.configuration.list()) {
    const sealed = new Map<string, SealedSecret>();
    for (const [field, text] of secretsOf(entry.value)) {
      const anew = await configuration.reseal(
        store,
        { kind: entry.kind, id: entry.id, field },
        { sealed: text },
      );
      if (anew) sealed.set(text, anew);
      else result.failed.push({ kind: entry.kind, id: entry.id, field });
    }
    if (sealed.size === 0) continue;
    // A secret that was replaced meanwhile is not in the map and is kept as it is.
    const replace = ({ value }: StoredEntry): EntryValue =>
      JSON.parse(JSON.stringify(value), (_name, part: unknown) =>
        isSealed(part) ? (sealed.get(part.sealed) ?? part) : part,
      );
    const after = await store.configuration.update(entry, replace, by, "reseal");
    const kept = new Set(after && secretsOf(after.value).map(([, text]) => text));
    result.resealed += sealed
      .values()
      .filter((anew) => kept.has(anew.sealed))
      .toArray().length;
  }
  await resealTotp({ store, configuration, by }, result);
  return result;
}

async function resealTotp(
  { store, configuration, by }: Pick<OperationContext, "store" | "configuration" | "by">,
  result: Resealed,
): Promise<void> {
  for (const member of await store.members.list()) {
    const old = member.totp?.secret;
    if (!old) continue;
    const secret = await configuration.reseal(store, secretName(member), old);
    if (!secret) {
      result.failed.push({ kind: "member", id: member.name, field: "totp" });
      continue;
    }
    // A secret that the member has replaced meanwhile is kept as it is.
    const after = await store.members.update(
      member.id,
      ({ totp }) => (totp?.secret.sealed === old.sealed ? { totp: { ...totp, secret } } : {}),
      { by, action: "update" },
    );
    if (after?.totp?.secret.sealed === secret.sealed) result.resealed += 1;
  }
}
