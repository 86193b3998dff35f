import { z } from "zod";
import { readStrictly } from "../domain/schema-problems.ts";
import { SYNONYMS } from "./file-schema.ts";
import { modelEntrySchema, modelIdSchema, type ModelEntry } from "./model-schema.ts";
import type { ReportProblem } from "./problems.ts";

/**
 * One data file of the shipped catalogue: a vendor, the condition that enables its channel, and the models that the
 * channel serves.
 */
export interface CatalogueFile {
  /** Name of the file in messages: `catalogue/openai.yaml`. */
  name: string;
  provider: string;
  channel: {
    id: string;
    /** Variable that must be set for the channel to exist; null for a channel that always exists. */
    credentialVariable: string | null;
    /**
     * Variable that contains the address of a vendor with a different address for each customer. The channel exists
     * only when this variable is set. Null for other vendors.
     */
    baseUrlVariable: string | null;
    baseUrl: string | undefined;
    /** Variable that contains the region. When it is not set, the provider's default region applies. */
    regionVariable: string | null;
    /** True for a server that the operator runs. Such a server must not fetch links of callers. */
    isOwnServer: boolean;
    settings: Record<string, unknown>;
  };
  models: ReadonlyMap<string, ModelEntry>;
}

/** A model, merged from all files that contain an entry for it. */
export interface ShippedModel {
  /** Name of the file that contains the model's full description. */
  source: string;
  entry: ModelEntry;
  targets: { channel: string; provider: string; upstreamModel: string }[];
}

const catalogueSchema = z.strictObject({
  provider: z.string().min(1),
  channel: z
    .strictObject({
      id: z.string().min(1).optional(),
      credential_env: z.string().min(1).optional(),
      base_url_env: z.string().min(1).optional(),
      base_url: z.string().min(1).optional(),
      region_env: z.string().min(1).optional(),
      own_server: z.boolean().default(false),
      settings: z.record(z.string(), z.unknown()).default({}),
    })
    .prefault({}),
  models: z.record(modelIdSchema, modelEntrySchema),
});

/** Reads every `*.yaml` file of the folder, ordered by name. */
export async function readCatalogue(directory: string, report: ReportProblem): Promise<CatalogueFile[]> {
  const names = await Array.fromAsync(new Bun.Glob("*.yaml").scan({ cwd: directory }));
  const files: CatalogueFile[] = [];
  for (const name of names.toSorted()) {
    const file = readCatalogueFile(
      `catalogue/${name}`,
      await Bun.file(`${directory}/${name}`).text(),
      report,
    );
    if (file) files.push(file);
  }
  return files;
}

/** Reads the text of one catalogue file. Reports problems under the name of the file. */
export function readCatalogueFile(name: string, text: string, report: ReportProblem): CatalogueFile | null {
  const result = readStrictly(catalogueSchema, parseYaml(text), { noun: "setting", synonyms: SYNONYMS });
  if ("problems" in result) {
    for (const problem of result.problems) report(`${name}: ${problem.path}`, problem);
    return null;
  }
  const { provider, channel, models } = result.value;
  return {
    name,
    provider,
    channel: {
      id: channel.id ?? provider,
      credentialVariable: channel.credential_env ?? null,
      baseUrlVariable: channel.base_url_env ?? null,
      baseUrl: channel.base_url,
      regionVariable: channel.region_env ?? null,
      isOwnServer: channel.own_server,
      settings: channel.settings,
    },
    models: new Map(Object.entries(models)),
  };
}

/** Merges the files: each file with an entry for a model adds a target to the model's route. */
export function shippedModels(files: readonly CatalogueFile[]): Map<string, ShippedModel> {
  const models = new Map<string, ShippedModel>();
  const isFull = (file: CatalogueFile, id: string) => file.models.get(id)?.type !== undefined;
  for (const id of new Set(files.flatMap((file) => [...file.models.keys()]))) {
    const naming = files.filter((file) => file.models.has(id));
    // The file with the full description belongs to the model's own vendor, so its target comes before the targets of
    // resellers.
    const ordered = [
      ...naming.filter((file) => isFull(file, id)),
      ...naming.filter((file) => !isFull(file, id)),
    ];
    let entry: ModelEntry = {};
    for (const file of ordered) entry = mergeEntries(entry, file.models.get(id) ?? {});
    const targets = ordered.map((file) => ({
      channel: file.channel.id,
      provider: file.provider,
      upstreamModel: file.models.get(id)?.upstream_model ?? id,
    }));
    models.set(id, { source: ordered[0]?.name ?? id, entry, targets });
  }
  return models;
}

/** Returns the first entry, with missing fields taken from the second. Amounts of two prices are never mixed. */
export function mergeEntries(first: ModelEntry, second: ModelEntry): ModelEntry {
  const image = first.image || second.image ? { ...second.image, ...first.image } : undefined;
  return { ...second, ...first, ...(image && { image }) };
}

/**
 * Returns the content of a catalogue file, or null when it is not YAML; the schema then refuses the null. Bun's parser
 * takes 2 ms for all shipped files; the parser that reports columns takes 200 ms. A test compares their results.
 */
function parseYaml(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch {
    return null;
  }
}
