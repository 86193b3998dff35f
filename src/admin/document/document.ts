import { z } from "zod";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import { isMaskedHeader, isSecretName } from "../../lib/secret-names.ts";
import { AdminError } from "../admin-error.ts";
import { partsOf } from "../channels/entry.ts";
import { MASK } from "../channels/schema.ts";
import type { OperationContext } from "../context.ts";
import { changeSchema, compare, type DocumentChange } from "./change.ts";
import { applyEntries, maskedEntries } from "./entries.ts";
import type { Section } from "./section.ts";
import { SECTIONS } from "./sections.ts";
import { noteExport } from "../exports/note.ts";
import { readInput } from "../input.ts";
import { entriesOf } from "../../lib/json.ts";

const HEADER = `# What the database of a gateway declares. The configuration file and the environment are not in it.
# A secret is shown as ********, which an import keeps as it is; write another text to change it.
`;

/** Returns everything that the database declares as one YAML text, without secrets. */
export async function exportConfiguration(context: OperationContext): Promise<{ yaml: string }> {
  const stored = await context.store.configuration.list();
  const parts: [name: string, entries: [string, unknown][]][] = [
    ["channels", [...maskedEntries(stored, "channel")]],
    ["models", [...maskedEntries(stored, "model")]],
  ];
  for (const [name, section] of Object.entries(SECTIONS))
    parts.push([name, [...(await section.read(context))]]);
  let yaml = HEADER;
  for (const [name, entries] of parts)
    for (let start = 0; start === 0 || start < entries.length; start += ENTRIES_A_TURN) {
      await yieldToEventLoop();
      const part = { [name]: Object.fromEntries(entries.slice(start, start + ENTRIES_A_TURN)) };
      const text = context.configuration.writeYaml(JSON.parse(JSON.stringify(part)));
      // The heading of a section is written only once, with its first part.
      yaml += start === 0 ? text : text.slice(text.indexOf("\n") + 1);
    }
  const rows = parts.reduce((sum, [, entries]) => sum + entries.length, 0);
  await noteExport(context, "configuration", { format: "yaml", filter: {}, rows, isWhole: true });
  return { yaml };
}

/** Number of entries written in one turn of the event loop. Each entry takes up to a tenth of a millisecond. */
const ENTRIES_A_TURN = 50;

/**
 * Changes the database to the state that a document describes, completely or not at all. Sections that are missing in
 * the document stay unchanged. Objects that are missing in a section of the document are removed, except organizations.
 * A dry run makes the same checks and changes nothing.
 */
export async function importConfiguration(
  context: OperationContext,
  input: z.output<typeof importSchema>,
): Promise<ImportResult> {
  const { yaml, isDryRun } = input;
  const document = readDocument(context, yaml);
  const result: ImportResult = { changes: [], secrets: [], isApplied: !isDryRun };
  try {
    await context.store.atomically(async (store) => {
      await applyDocument({ ...context, store }, document, result);
      if (isDryRun) throw new DryRun();
    });
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
    result.secrets = [];
    return result;
  }
  return result;
}

export const importSchema = z.strictObject({
  yaml: z.string().max(4_000_000).describe("A document as the export has it"),
  isDryRun: z.boolean().default(false).describe("Only show what would change"),
});

export const importResultSchema = z.object({
  isApplied: z.boolean(),
  changes: z.array(changeSchema),
  secrets: z
    .array(z.object({ kind: z.enum(["key", "member"]), id: z.string(), secret: z.string() }))
    .describe("Of new keys, and passwords of new members; shown only now"),
});

type ImportResult = z.output<typeof importResultSchema>;
/** Thrown to roll back the transaction of a dry run. */
class DryRun extends Error {}

const entriesSchema = z.record(z.string(), z.record(z.string(), z.unknown())).optional();
const recordsOf = ({ schema }: Section) => z.record(z.string(), schema).optional();

const documentSchema = z.strictObject({
  channels: entriesSchema,
  models: entriesSchema,
  organizations: recordsOf(SECTIONS.organizations),
  keys: recordsOf(SECTIONS.keys),
  prices: recordsOf(SECTIONS.prices),
  budgets: recordsOf(SECTIONS.budgets),
  alerts: recordsOf(SECTIONS.alerts),
  members: recordsOf(SECTIONS.members),
});

type Document = z.output<typeof documentSchema>;

function readDocument({ configuration }: OperationContext, yaml: string): Document {
  const { value, problems } = configuration.readYaml(yaml);
  if (problems.length > 0) {
    const lines = problems.map(({ line, column, message }) => `line ${line}, column ${column} ${message}`);
    throw new AdminError(400, "yaml", lines.join("; "));
  }
  return readInput(documentSchema, value ?? {});
}

/** Returns the change with the new secrets of the document replaced by a placeholder. */
function masked(change: DocumentChange): DocumentChange {
  const { after } = change;
  if (change.kind !== "channel" || !after) return change;
  const hide = (isSecret: (name: string) => boolean) => (part: unknown) =>
    Object.fromEntries(
      Object.entries(partsOf(part)).map(([name, value]) => [
        name,
        isSecret(name) && value !== MASK ? NEW : value,
      ]),
    );
  const { credential, headers, settings } = after;
  const isNew = credential !== undefined && credential !== "none" && credential !== MASK;
  return {
    ...change,
    after: {
      ...after,
      ...(isNew && { credential: NEW }),
      ...(headers !== undefined && { headers: hide(isMaskedHeader)(headers) }),
      ...(settings !== undefined && { settings: hide(isSecretName)(settings) }),
    },
  };
}

const NEW = "(a new secret)";

/**
 * Compares each section with the store and applies the differences. Channels and models come first, because other
 * sections may refer to them.
 */
async function applyDocument(
  context: OperationContext,
  document: Document,
  result: ImportResult,
): Promise<void> {
  const stored = await context.store.configuration.list();
  const entries = (["channel", "model"] as const).flatMap((kind) => {
    const wanted = document[`${kind}s`];
    const isWhole = { isWhole: true };
    return wanted ? compare(kind, maskedEntries(stored, kind), new Map(Object.entries(wanted)), isWhole) : [];
  });
  context.onProgress?.("Importing channels and models.");
  const { catalogue } = await applyEntries(context, stored, entries);
  result.changes.push(...entries.map(masked));
  const changed = { ...context, catalogue };
  const removals: (() => Promise<void>)[] = [];
  for (const [name, section] of entriesOf(SECTIONS)) {
    const wanted = document[name];
    if (!wanted) continue;
    const isKept = section.remove === undefined;
    const present = await section.read(changed);
    const changes = compare(section.kind, present, new Map(Object.entries(wanted)), { isKept });
    result.changes.push(...changes);
    const applied = changes.filter(({ action }) => action !== "remove");
    for (const { action, id } of changes)
      if (action === "remove") removals.unshift(async () => section.remove?.(changed, id));
    await eachInTurn(context, `Importing ${name}.`, applied, (change) =>
      applyChange(changed, section, change, result),
    );
  }
  await eachInTurn(context, "Removing objects.", removals, (remove) => remove());
}

/** Does the work for each item. Between two items, the event loop serves requests and handles signals. */
async function eachInTurn<Item>(
  { onProgress }: OperationContext,
  step: string,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    onProgress?.(step, index, items.length);
    await yieldToEventLoop();
    await work(item);
  }
}

async function applyChange(
  context: OperationContext,
  section: Section,
  { kind, id, before, after }: DocumentChange,
  result: ImportResult,
): Promise<void> {
  if (before) return await section.update(context, id, { before, after: after ?? {} });
  const secret = await section.create(context, id, after ?? {});
  if (secret !== null && (kind === "key" || kind === "member")) result.secrets.push({ kind, id, secret });
}
