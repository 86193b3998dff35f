import type {
  ConfiguredChannel,
  ConfiguredModel,
  EntryProblem,
  StoredEntry,
} from "../admin/configuration-ports.ts";
import type { Channel } from "../domain/channel.ts";
import { shippedModels, type CatalogueFile } from "./catalogue.ts";
import {
  buildChannel,
  buildChannels,
  catalogueChannels,
  SANDBOX,
  type ChannelSources,
  type ProviderSchemas,
} from "./channels.ts";
import type { DeclaredChannel } from "./channel-schema.ts";
import type { FileSettings } from "./file-schema.ts";
import type { WrittenFile } from "./layers.ts";
import type { MasterKeys } from "./master-key.ts";
import type { ModelTables } from "./models.ts";
import type { Report } from "./problems.ts";
import type { SecretSource } from "./secret-reference.ts";
import { placeStoredChannels } from "./stored-channels.ts";
import { entryProblems, pathOf, readStoredEntries, type StoredLayer } from "./stored-entries.ts";
import { buildStoredModels } from "./stored-models.ts";

interface TableSources {
  effective: FileSettings;
  file: Pick<WrittenFile, "channelIds" | "modelIds">;
  stored: readonly StoredEntry[];
  catalogue: readonly CatalogueFile[];
  providers: ProviderSchemas;
  secrets: SecretSource;
  masterKeys: MasterKeys;
}

/** Channels and models of all layers, and how each came to be. */
export interface Tables extends ModelTables {
  channels: ReadonlyMap<string, Channel>;
  isSandboxOn: boolean;
  configured: Configured;
}

/** Every channel and model with its declaration and origin, also those that are not in force. */
export interface Configured {
  channels: ReadonlyMap<string, ConfiguredChannel>;
  models: ReadonlyMap<string, ConfiguredModel>;
  /** Why entries of the database are not in force. */
  problems: readonly EntryProblem[];
}

/** Builds them. Problems of the database's entries are collected, those of all else reported. */
export async function buildTables(sources: TableSources, report: Report): Promise<Tables> {
  const { effective, file, stored, masterKeys, providers, secrets } = sources;
  const { problems, report: reportEntry } = entryProblems();
  const shipped = {
    catalogue: sources.catalogue.filter(
      ({ provider }) => provider === SANDBOX || effective.catalogue.enabled,
    ),
    secrets,
    extraSettings: sandboxSettings(effective),
  };
  const byEnvironment = Object.keys(catalogueChannels({ ...shipped, isSandboxOn: false }));
  const declaredIds = new Map<string, "file" | "environment">([
    ...byEnvironment.map((id) => [id, "environment"] as const),
    ...file.channelIds.map((id) => [id, "file"] as const),
  ]);
  const layer = readStoredEntries(stored, {
    declared: { channels: declaredIds, models: new Set(file.modelIds) },
    keys: masterKeys,
    report: reportEntry,
  });
  const placed = placeStoredChannels(layer.channels, shipped.catalogue, {
    enabled: new Set(declaredIds.keys()),
    providers,
  });
  const hasVendor = [
    ...Object.values(catalogueChannels({ ...shipped, isSandboxOn: false })),
    ...Object.values(effective.channels),
    ...stored.flatMap(({ kind, value }) => (kind === "channel" ? [value] : [])),
  ].some(({ provider }) => provider !== SANDBOX);
  const channelSources: ChannelSources = {
    ...shipped,
    declared: effective.channels,
    providers,
    isSandboxOn: effective.sandbox.enabled ?? !hasVendor,
  };
  const channels = await buildChannels(channelSources, report);
  for (const [id, { declared, storedId }] of placed.channels) {
    const ownId = pathOf({ kind: "channel", id });
    const path = pathOf({ kind: "channel", id: storedId });
    const channel = await buildChannel(id, declared, channelSources, (at, message) =>
      reportEntry({ kind: "channel", id: storedId }, path + at.slice(ownId.length), message),
    );
    if (channel) channels.set(id, channel);
  }
  const { described, ...tables } = buildStoredModels(
    layer,
    {
      declared: effective.models,
      shipped: shippedModels(shipped.catalogue),
      channels,
      substitutes: placed.substitutes,
      declaredChannels: new Set([...file.channelIds, ...idsOf(stored, "channel")]),
      isSandboxOn: channelSources.isSandboxOn,
    },
    report,
    reportEntry,
  );
  return {
    ...tables,
    channels,
    isSandboxOn: channelSources.isSandboxOn,
    configured: {
      channels: describeChannels({ channels, channelSources, declaredIds, placed: placed.channels, layer }),
      models: new Map(described),
      problems,
    },
  };
}

function sandboxSettings({ sandbox }: FileSettings): Record<string, Record<string, unknown>> {
  const pace = sandbox.tokens_per_second;
  return { [SANDBOX]: pace === null ? {} : { tokens_per_second: pace } };
}

function idsOf(stored: readonly StoredEntry[], kind: StoredEntry["kind"]): string[] {
  return stored.filter((entry) => entry.kind === kind).map(({ id }) => id);
}

interface DescribedLayers {
  channels: ReadonlyMap<string, Channel>;
  channelSources: ChannelSources;
  declaredIds: ReadonlyMap<string, "file" | "environment">;
  placed: ReadonlyMap<string, { declared: DeclaredChannel; origin: "database" | "catalogue" }>;
  layer: StoredLayer;
}

function describeChannels(layers: DescribedLayers): Map<string, ConfiguredChannel> {
  const { channels, channelSources, declaredIds, placed, layer } = layers;
  const described = new Map<string, ConfiguredChannel>();
  const declared = { ...catalogueChannels(channelSources), ...channelSources.declared };
  for (const [id, channel] of Object.entries(declared))
    described.set(id, {
      id,
      origin: declaredIds.get(id) ?? "catalogue",
      declared: channel,
      channel: channels.get(id) ?? null,
    });
  for (const { kind, id, value } of layer.entries.values()) {
    if (kind !== "channel" || described.has(id)) continue;
    const provider = String(value["provider"]);
    const stored = { ...value, provider };
    described.set(id, { id, origin: "database", declared: stored, channel: channels.get(id) ?? null });
  }
  for (const [id, { declared: sibling, origin }] of placed)
    if (origin === "catalogue")
      described.set(id, { id, origin, declared: sibling, channel: channels.get(id) ?? null });
  return described;
}
