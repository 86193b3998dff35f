import { operatorMessage } from "../../domain/operator-message.ts";
import { isMaskedHeader, isSecretName } from "../../lib/secret-names.ts";
import { AdminError, wrongInput } from "../admin-error.ts";
import {
  isSealed,
  partsOf,
  requireKnown,
  requireReachable,
  requireSecretsForAddress,
  withReach,
} from "../channels/entry.ts";
import { MASK } from "../channels/schema.ts";
import type {
  ConfigurationKind,
  ConfigurationState,
  EntryValue,
  StoredEntry,
} from "../configuration/store-port.ts";
import { requireChangeable } from "../configuration/configured.ts";
import type { OperationContext } from "../context.ts";
import type { DocumentChange } from "./change.ts";

/** Returns the entries of the database in the form of the configuration file, with a mask instead of each secret. */
export function maskedEntries(
  stored: readonly StoredEntry[],
  kind: ConfigurationKind,
): Map<string, EntryValue> {
  const entries = stored.filter((entry) => entry.kind === kind);
  return new Map(entries.map(({ id, value }) => [id, maskSecrets(value)]));
}

/**
 * Writes changed channels and models. They are checked together, because a model may be routed to a channel of the same
 * document. Returns the new configuration. Throws 400 for an entry that would not be in force.
 */
export async function applyEntries(
  context: OperationContext,
  stored: readonly StoredEntry[],
  changes: readonly DocumentChange[],
): Promise<ConfigurationState> {
  const { store, configuration, by, clock } = context;
  const present = await configuration.read(stored);
  const entries = new Map(stored.map((entry) => [nameOf(entry), entry]));
  const written: StoredEntry[] = [];
  for (const { kind, id, action, after } of changes) {
    if (kind !== "channel" && kind !== "model") continue;
    const before = entries.get(nameOf({ kind, id }));
    requireOwn(present, kind, id);
    if (action === "remove") {
      entries.delete(nameOf({ kind, id }));
      await store.configuration.remove({ kind, id }, by);
      continue;
    }
    const wanted = await withSecrets(context, { kind, id, value: partsOf(after) }, before);
    if (before) requireSecretsForAddress(before.value, wanted);
    const value = kind === "channel" ? withReach(context, before?.value ?? {}, wanted) : wanted;
    const entry = { kind, id, value, createdAt: before?.createdAt ?? clock.now(), revision: 0n };
    entries.set(nameOf(entry), entry);
    written.push(entry);
    if (before) await store.configuration.update(entry, () => value, by);
    else await store.configuration.create(entry, by);
  }
  const state = await configuration.read([...entries.values()]);
  const problem = state.problems.find((each) =>
    written.some(({ kind, id }) => each.kind === kind && each.id === id),
  );
  if (problem) throw wrongInput([problem]);
  for (const { kind, id, value } of written) {
    const channel = kind === "channel" ? state.channels.get(id)?.channel : null;
    if (channel) await requireReachable(channel, value);
  }
  return state;
}

/**
 * Returns the value with a mask instead of each sealed secret. Leaves out `private_networks`, which the role of the
 * importing member decides.
 */
function maskSecrets({ private_networks: _private, ...value }: EntryValue): EntryValue {
  return JSON.parse(JSON.stringify(value), (_name, part: unknown) => (isSealed(part) ? MASK : part));
}

function nameOf({ kind, id }: Pick<StoredEntry, "kind" | "id">): string {
  return `${kind} ${id}`;
}

function requireOwn(state: ConfigurationState, kind: ConfigurationKind, id: string): void {
  const existing = kind === "channel" ? state.channels.get(id) : state.models.get(id);
  if (existing) requireChangeable(kind, id, existing.origin);
}

/** Returns the stored form of a document's entry. Masked secrets stay unchanged; other secrets are sealed. */
async function withSecrets(
  { configuration, store }: OperationContext,
  { kind, id, value }: Pick<StoredEntry, "kind" | "id" | "value">,
  before: StoredEntry | undefined,
): Promise<EntryValue> {
  if (kind === "model") return value;
  const path = `channels.${id}`;
  const seal = async (field: string, text: unknown, known: unknown): Promise<unknown> => {
    if (typeof text !== "string")
      throw new AdminError(
        400,
        `${path}.${field}`,
        operatorMessage("error.channel.secretItself", { field: `${path}.${field}`, mask: MASK }),
      );
    if (text !== MASK) return await configuration.seal(store, { kind, id, field }, text);
    requireKnown(known, field, `${path}.${field}`);
    return known;
  };
  const sealAll = async (below: string, isSecret: (name: string) => boolean) => {
    const known = partsOf(before?.value[below]);
    const sealed = Object.entries(partsOf(value[below])).map(async ([name, part]) => [
      name,
      isSecret(name) || part === MASK ? await seal(`${below}.${name}`, part, known[name]) : part,
    ]);
    return Object.fromEntries(await Promise.all(sealed)) as EntryValue;
  };
  const { credential } = value;
  const hasSecret = credential !== undefined && credential !== "none";
  return {
    ...value,
    ...(hasSecret && { credential: await seal("credential", credential, before?.value["credential"]) }),
    ...(value["headers"] !== undefined && { headers: await sealAll("headers", isMaskedHeader) }),
    ...(value["settings"] !== undefined && { settings: await sealAll("settings", isSecretName) }),
  };
}
