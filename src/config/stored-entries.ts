import type { EntryProblem, StoredEntry, SecretName } from "../admin/configuration/store-port.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import { formatPath, problemAt, readStrictly, type Words } from "../domain/schema-problems.ts";
import { sealedBy, unseal } from "../lib/seal.ts";
import {
  channelIdSchema,
  isSealed,
  storedChannelSchema,
  type DeclaredChannel,
  type StoredChannel,
} from "./channel-schema.ts";
import { fileModelSchema, type FileModel } from "./file-schema.ts";
import { modelIdSchema } from "./model-schema.ts";
import { openingKeys, type MasterKeys } from "./master-key.ts";
import { OpenedSecret } from "./secret-reference.ts";

/**
 * Usable channels and models of the database, in the order in which they were added. `entries` contains all entries.
 */
export interface StoredLayer {
  channels: Map<string, { declared: DeclaredChannel; entry: StoredEntry }>;
  models: Record<string, FileModel>;
  entries: ReadonlyMap<string, StoredEntry>;
}

/** Ids that the file and the environment declare; their declarations take precedence over the database's. */
interface DeclaredIds {
  channels: ReadonlyMap<string, "file" | "environment">;
  models: ReadonlySet<string>;
}

export type ReportEntry = (entry: Pick<StoredEntry, "kind" | "id">, path: string, words: Words) => void;

/**
 * Reads stored entries. Reports and leaves out an entry that is invalid, that cannot be decrypted, or that the file or
 * environment also declares. So no stored entry can prevent a start.
 */
export function readStoredEntries(
  stored: readonly StoredEntry[],
  { declared, keys, report }: { declared: DeclaredIds; keys: MasterKeys; report: ReportEntry },
): StoredLayer {
  const layer: StoredLayer = {
    channels: new Map(),
    models: {},
    entries: new Map(stored.map((entry) => [entryName(entry), entry])),
  };
  for (const entry of stored) {
    const { kind, id, value } = entry;
    const path = pathOf(entry);
    const winner =
      kind === "channel" ? declared.channels.get(id) : declared.models.has(id) ? "file" : undefined;
    if (winner !== undefined) {
      report(entry, path, operatorMessage(`input.ignored.${winner}`, { noun: kind }));
      continue;
    }
    const usable = readStrictly(IDS[kind], id);
    if ("problems" in usable) {
      for (const problem of usable.problems) report(entry, path, problem);
      continue;
    }
    const noun = `setting of a ${kind}` as const;
    if (kind === "model") {
      const result = readStrictly(fileModelSchema, value, { noun });
      if ("value" in result) layer.models[id] = result.value;
      else for (const problem of result.problems) report(entry, `${path}.${problem.path}`, problem);
      continue;
    }
    const result = readStrictly(storedChannelSchema, value, { noun });
    if ("problems" in result)
      for (const problem of result.problems) report(entry, `${path}.${problem.path}`, problem);
    else {
      const opened = openChannel(id, result.value, keys, (field, words) =>
        report(entry, `${path}.${field}`, words),
      );
      if (opened) layer.channels.set(id, { declared: opened, entry });
    }
  }
  return layer;
}

const IDS = { channel: channelIdSchema, model: modelIdSchema } as const;

/** Returns a list of problems and the function that adds to it. */
export function entryProblems(): { problems: EntryProblem[]; report: ReportEntry } {
  const problems: EntryProblem[] = [];
  return {
    problems,
    report: ({ kind, id }, path, words) => void problems.push({ ...problemAt(path, words), kind, id }),
  };
}

/** Returns the path that the entry would have in the configuration file: `channels.<id>` or `models.<id>`. */
export function pathOf({ kind, id }: Pick<StoredEntry, "kind" | "id">): string {
  return formatPath([`${kind}s`, id]);
}

/**
 * Returns the associated data of a sealed secret. With it, the secret can be decrypted only in this field of this
 * record.
 */
export function associatedData({ kind, id }: Pick<SecretName, "kind" | "id">, field: string): string {
  return `${kind}|${id}|${field}`;
}

function entryName({ kind, id }: Pick<StoredEntry, "kind" | "id">): string {
  return `${kind}|${id}`;
}

/** Returns the channel with its secrets decrypted; null when a secret cannot be decrypted. */
function openChannel(
  id: string,
  stored: StoredChannel,
  keys: MasterKeys,
  refuse: (field: string, words: Words) => void,
): DeclaredChannel | null {
  let isOpen = true;
  const open = <Part>(field: string, part: Part): Exclude<Part, { sealed: string }> | OpenedSecret => {
    if (!isSealed(part)) return part as Exclude<Part, { sealed: string }>;
    const text = unseal(openingKeys(keys), part.sealed, associatedData({ kind: "channel", id }, field));
    if (text !== null) return new OpenedSecret(text);
    isOpen = false;
    refuse(field, cannotOpen(part.sealed, keys));
    return new OpenedSecret("");
  };
  const openAll = <Part>(below: string, parts: Readonly<Record<string, Part>>) =>
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [name, open(`${below}.${name}`, part)] as const),
    );
  const { credential, headers, settings, ...plain } = stored;
  const opened = {
    ...plain,
    ...(credential !== undefined && { credential: open("credential", credential) }),
    ...(headers && { headers: openAll("headers", headers) }),
    settings: openAll("settings", settings),
  };
  return isOpen ? opened : null;
}

function cannotOpen(sealed: string, { current }: MasterKeys): OperatorMessage {
  const id = sealedBy(sealed);
  if (id === null || id === current?.id) return operatorMessage("input.unopened.changed", {});
  if (current === null) return operatorMessage("input.unopened.none", { key: id });
  return operatorMessage("input.unopened.other", { key: id, current: current.id });
}
