import { operatorMessage } from "../../domain/operator-message.ts";
import { problemAt } from "../../domain/schema-problems.ts";
import { AdminError, wrongInput } from "../admin-error.ts";
import type {
  ConfigurationKind,
  ConfigurationState,
  EntryOrigin,
  EntryValue,
  StoredEntry,
} from "./store-port.ts";
import type { OperationContext } from "../context.ts";

/** The entries of the database, and the whole configuration that includes them. */
export interface ConfiguredValues {
  stored: readonly StoredEntry[];
  state: ConfigurationState;
}

/** Reads the entries and the configuration again, so that they contain every committed change of any process. */
export async function readConfigured({ store, configuration }: OperationContext): Promise<ConfiguredValues> {
  const stored = await store.configuration.list();
  return { stored, state: await configuration.read(stored) };
}

/** Returns the stored entry of this kind with this id; undefined when there is none. */
export function storedEntry(
  { stored }: ConfiguredValues,
  kind: ConfigurationKind,
  id: string,
): StoredEntry | undefined {
  return stored.find((entry) => entry.kind === kind && entry.id === id);
}

/**
 * Returns the configuration as it would be with an entry added or replaced. Throws an `AdminError` 400 when the entry
 * would not be in force. `fieldOf` returns the name of a field in the input.
 */
export async function readWith(
  { configuration, clock }: OperationContext,
  { stored }: ConfiguredValues,
  entry: { kind: ConfigurationKind; id: string; value: EntryValue },
  fieldOf: (path: string) => string,
): Promise<ConfigurationState> {
  const { kind, id } = entry;
  const others = stored.filter((each) => each.kind !== kind || each.id !== id);
  const state = await configuration.read([...others, { ...entry, createdAt: clock.now(), revision: 0n }]);
  const problems = state.problems
    .filter((problem) => problem.kind === kind && problem.id === id)
    .map((problem) => problemAt(fieldOf(problem.path) || "id", problem));
  if (problems.length === 0) return state;
  const distinct = new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem]));
  throw wrongInput([...distinct.values()]);
}

/** Throws 409 for a declaration of the file or the environment: a declaration can be changed only at its source. */
export function requireChangeable(noun: string, id: string, origin: EntryOrigin): void {
  if (origin === "file") throw new AdminError(409, null, operatorMessage("error.inFile", { noun, id }));
  if (origin === "environment")
    throw new AdminError(409, null, operatorMessage("error.inEnvironment", { noun, id }));
}

/** Throws 409 when the entry was changed since the caller read it. */
export function requireVersion({ revision }: StoredEntry, version: number | undefined): void {
  if (version !== undefined && BigInt(version) !== revision)
    throw new AdminError(409, "version", operatorMessage("error.changed", {}));
}
