import type { ConfiguredModel } from "../admin/configuration/store-port.ts";
import type { FileModel } from "./file-schema.ts";
import { buildModels, type ModelSources, type ModelTables } from "./models.ts";
import { isAtOrBelow, type ReportShown } from "./problems.ts";
import { pathOf, type ReportEntry, type StoredLayer } from "./stored-entries.ts";
import { operatorMessage } from "../domain/operator-message.ts";

interface StoredModelTables extends ModelTables {
  described: [string, ConfiguredModel][];
}

/**
 * Builds the models of the file, the database and the catalogue, in this precedence. Reports and leaves out an invalid
 * model of the database; of a model with an unknown channel, only the targets with that channel are left out.
 */
export function buildStoredModels(
  layer: StoredLayer,
  sources: Omit<ModelSources, "stored">,
  report: ReportShown,
  reportEntry: ReportEntry,
): StoredModelTables {
  let stored = withKnownTargets(layer.models, sources, reportEntry);
  for (;;) {
    const refused = new Set<string>();
    const problems: Parameters<ReportShown>[] = [];
    const declared = { ...stored, ...sources.declared };
    const { described, ...tables } = buildModels({ ...sources, declared }, (path, words) => {
      const id = Object.keys(stored).find((each) => isAtOrBelow(path, pathOf({ kind: "model", id: each })));
      if (id === undefined) return void problems.push([path, words]);
      refused.add(id);
      reportEntry({ kind: "model", id }, path, words);
    });
    if (refused.size === 0) {
      for (const problem of problems) report(...problem);
      return {
        ...tables,
        described: described.map((model) => [model.id, withOrigin(model, layer, stored, sources)]),
      };
    }
    stored = Object.fromEntries(Object.entries(stored).filter(([id]) => !refused.has(id)));
  }
}

/**
 * Removes targets with an unknown channel. After the route was stored, the channel or the variable that enabled the
 * channel may have been removed.
 */
function withKnownTargets(
  models: Readonly<Record<string, FileModel>>,
  { channels, declaredChannels }: Pick<ModelSources, "channels" | "declaredChannels">,
  reportEntry: ReportEntry,
): Record<string, FileModel> {
  const pruned = Object.entries(models).map(([id, model]): [string, FileModel] => {
    const { route } = model;
    if (!route) return [id, model];
    const targets = route.targets.filter(({ channel }, index) => {
      const isKnown = channels.has(channel) || declaredChannels.has(channel);
      const entry = { kind: "model", id } as const;
      const path = `${pathOf(entry)}.route.targets[${index}].channel`;
      if (!isKnown) reportEntry(entry, path, operatorMessage("input.channel.leftOut", { channel }));
      return isKnown;
    });
    return [id, { ...model, route: { ...route, targets } }];
  });
  return Object.fromEntries(pruned);
}

function withOrigin(
  model: Omit<ConfiguredModel, "origin" | "declared">,
  { entries }: StoredLayer,
  stored: Readonly<Record<string, FileModel>>,
  { declared }: Pick<ModelSources, "declared">,
): ConfiguredModel {
  const { id } = model;
  if (declared[id]) return { ...model, origin: "file", declared: declared[id] };
  const entry = entries.get(`model|${id}`);
  if (entry && stored[id]) return { ...model, origin: "database", declared: entry.value };
  return { ...model, origin: "catalogue", declared: null };
}
