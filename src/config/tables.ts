import type {
  ConfiguredChannel,
  ConfiguredModel,
  EntryProblem,
  ShippedChannel,
  StoredEntry,
} from "../admin/configuration/store-port.ts";
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
import type { FileSettings } from "./file-schema.ts";
import type { WrittenFile } from "./layers.ts";
import type { MasterKeys } from "./master-key.ts";
import type { ModelTables } from "./models.ts";
import type { ReportProblem } from "./problems.ts";
import type { SecretSource } from "./secret-reference.ts";
import { completeStoredChannels } from "./stored-channels.ts";
import {
  entryProblems,
  pathOf,
  readStoredEntries,
  type ReportEntry,
  type StoredLayer,
} from "./stored-entries.ts";
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

/** Channels and models of all layers, with their origins. */
export interface Tables extends ModelTables {
  channels: ReadonlyMap<string, Channel>;
  /** Ids of stored channels that this process cannot use. */
  unusableChannels: readonly string[];
  isSandboxOn: boolean;
  configured: Configured;
}

/** All channels and models with their declarations and origins, including channels and models that have no effect. */
export interface Configured {
  channels: ReadonlyMap<string, ConfiguredChannel>;
  models: ReadonlyMap<string, ConfiguredModel>;
  /** The reasons why entries of the database have no effect. */
  problems: readonly EntryProblem[];
  /** All channels of the shipped catalogue, including disabled channels. */
  shippedChannels: readonly ShippedChannel[];
}

/** Builds the tables. Problems of the database's entries become part of the tables; other problems are reported. */
export async function buildTables(sources: TableSources, report: ReportProblem): Promise<Tables> {
  const { effective, file, stored } = sources;
  const { problems, report: reportEntry } = entryProblems();
  const layers = readLayers(sources, reportEntry);
  const { channelSources, completed, layer } = layers;
  const { isSandboxOn, catalogue } = channelSources;
  const channels = await buildChannels(channelSources, report);
  for (const [id, { declared, storedId }] of completed.channels) {
    const ownId = pathOf({ kind: "channel", id });
    const path = pathOf({ kind: "channel", id: storedId });
    const channel = await buildChannel(id, declared, channelSources, (at, words) =>
      reportEntry({ kind: "channel", id: storedId }, path + at.slice(ownId.length), words),
    );
    const networks = declared.private_networks ? EVERY_NETWORK : effective.server.allowed_networks;
    if (channel) channels.set(id, { ...channel, networks });
  }
  const unusable = stored.filter(({ kind, id }) => kind === "channel" && !channels.has(id));
  const modelSources = {
    declared: effective.models,
    shipped: shippedModels(catalogue),
    channels,
    substitutes: completed.substitutes,
    declaredChannels: new Set([...file.channelIds, ...idsOf(stored, "channel")]),
    unusableProviders: new Set(unusable.map(({ value }) => String(value["provider"]))),
    isSandboxOn,
  };
  const { described, ...tables } = buildStoredModels(layer, modelSources, report, reportEntry);
  const configured = {
    channels: describeChannels(channels, layers),
    models: new Map(described),
    problems,
    shippedChannels: catalogue.map(describeShipped),
  };
  const unusableChannels = unusable.map(({ id }) => id);
  return { ...tables, channels, unusableChannels, isSandboxOn, configured };
}

/** All networks. A stored channel with `private_networks` may call all but link-local and metadata addresses. */
const EVERY_NETWORK = ["0.0.0.0/0", "::/0"];

/** The declarations of channels and models, before any channel or model is built. */
interface Layers {
  channelSources: ChannelSources;
  /** Channels that the file and the environment declare. */
  declaredIds: ReadonlyMap<string, "file" | "environment">;
  layer: StoredLayer;
  completed: ReturnType<typeof completeStoredChannels>;
}

function readLayers(
  { effective, file, stored, masterKeys, providers, secrets, ...sources }: TableSources,
  report: ReportEntry,
): Layers {
  const isUsed = ({ provider }: CatalogueFile) => provider === SANDBOX || effective.catalogue.enabled;
  const shipped = {
    catalogue: sources.catalogue.filter(isUsed),
    secrets,
    extraSettings: sandboxSettings(effective),
  };
  const byEnvironment = catalogueChannels({ ...shipped, isSandboxOn: false });
  const declaredIds = new Map<string, "file" | "environment">([
    ...Object.keys(byEnvironment).map((id) => [id, "environment"] as const),
    ...file.channelIds.map((id) => [id, "file"] as const),
  ]);
  const declared = { channels: declaredIds, models: new Set(file.modelIds) };
  const layer = readStoredEntries(stored, { declared, keys: masterKeys, report });
  const enabled = new Set(declaredIds.keys());
  // An unusable channel counts as a vendor too: callers who expect a vendor should get an error, not generated text.
  const storedChannels = stored.flatMap(({ kind, value }) => (kind === "channel" ? [value] : []));
  const hasVendor = [
    ...Object.values(byEnvironment),
    ...Object.values(effective.channels),
    ...storedChannels,
  ].some(({ provider }) => provider !== SANDBOX);
  return {
    channelSources: {
      ...shipped,
      declared: effective.channels,
      providers,
      isSandboxOn: effective.sandbox.enabled ?? !hasVendor,
    },
    declaredIds,
    layer,
    completed: completeStoredChannels(layer.channels, shipped.catalogue, { enabled, providers }),
  };
}

function describeShipped({ provider, models, channel }: CatalogueFile): ShippedChannel {
  const { id, baseUrl = null, settings } = channel;
  return { provider, id, baseUrl, settings, models: models.size };
}

function sandboxSettings({ sandbox }: FileSettings): Record<string, Record<string, unknown>> {
  const pace = sandbox.tokens_per_second;
  return { [SANDBOX]: pace === null ? {} : { tokens_per_second: pace } };
}

function idsOf(stored: readonly StoredEntry[], kind: StoredEntry["kind"]): string[] {
  return stored.filter((entry) => entry.kind === kind).map(({ id }) => id);
}

function describeChannels(
  channels: ReadonlyMap<string, Channel>,
  { channelSources, declaredIds, completed, layer }: Layers,
): Map<string, ConfiguredChannel> {
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
  for (const [id, { declared: sibling, origin }] of completed.channels)
    if (origin === "catalogue")
      described.set(id, { id, origin, declared: sibling, channel: channels.get(id) ?? null });
  return described;
}
