import { z, type ZodType } from "zod";
import type { CatalogueFile } from "./catalogue.ts";
import type { ProviderSchemas } from "./channels.ts";
import type { DeclaredChannel } from "./channel-schema.ts";
import type { StoredLayer } from "./stored-entries.ts";

/** What stored channels are beside the catalogue. */
interface StoredChannels {
  /** By id: stored ones with what the catalogue knows of them, and the catalogue's that use their credential. */
  channels: Map<string, { declared: DeclaredChannel; origin: "database" | "catalogue"; storedId: string }>;
  /** Channels of the catalogue that are off, and the stored one that serves their models instead. */
  substitutes: Map<string, string>;
}

/**
 * Gives each stored channel of a vendor what the catalogue has for it, so that its shipped models can be called at
 * once: by its id, or for another id where the catalogue's own channel is off. A vendor with several channels for one
 * credential gets all of them.
 */
export function placeStoredChannels(
  stored: StoredLayer["channels"],
  catalogue: readonly CatalogueFile[],
  { enabled, providers }: { enabled: ReadonlySet<string>; providers: ProviderSchemas },
): StoredChannels {
  const placed: StoredChannels = { channels: new Map(), substitutes: new Map() };
  for (const [id, { declared }] of stored) {
    const file = catalogueFileOf(id, declared, catalogue, providers.get(declared.provider)?.settings);
    placed.channels.set(id, {
      declared: file ? completed(declared, file) : declared,
      origin: "database",
      storedId: id,
    });
  }
  const isTaken = (id: string): boolean => enabled.has(id) || placed.channels.has(id);
  for (const [id, { declared }] of stored) {
    const file = catalogueFileOf(id, declared, catalogue, providers.get(declared.provider)?.settings);
    if (!file) continue;
    const { id: own, credentialVariable } = file.channel;
    if (!isTaken(own) && !placed.substitutes.has(own)) placed.substitutes.set(own, id);
    for (const { provider, channel } of catalogue) {
      const isSibling = channel.id !== own && channel.credentialVariable === credentialVariable;
      if (!isSibling || credentialVariable === null || provider !== declared.provider || isTaken(channel.id))
        continue;
      const settings = { ...declared.settings, ...channel.settings };
      placed.channels.set(channel.id, {
        declared: { ...declared, settings },
        origin: "catalogue",
        storedId: id,
      });
    }
  }
  return placed;
}

/** The catalogue's file for a channel: that of its id, or else the one whose address and settings are the same. */
function catalogueFileOf(
  id: string,
  declared: DeclaredChannel,
  catalogue: readonly CatalogueFile[],
  schema: ZodType | undefined,
): CatalogueFile | undefined {
  const files = catalogue.filter(({ provider }) => provider === declared.provider);
  const named = files.find(({ channel }) => channel.id === id);
  if (named || !schema) return named;
  const defaultBaseUrl = defaultBaseUrlOf(schema);
  // Of several for one credential that of the provider's own name is the vendor's main one.
  const mainFirst = files.toSorted((one, other) => rank(one) - rank(other));
  return mainFirst.find(({ channel }) => {
    const baseUrl = channel.baseUrl ?? defaultBaseUrl ?? undefined;
    const isSameAddress = (declared.base_url ?? defaultBaseUrl ?? undefined) === baseUrl;
    const isSameRegion = (channel.settings["region"] ?? undefined) === regionOf(declared, channel.settings);
    return isSameAddress && isSameRegion && channel.baseUrlVariable === null;
  });
}

function rank({ provider, channel }: CatalogueFile): number {
  return channel.id === provider ? 0 : 1;
}

/** The channel's region; that of the catalogue where neither names one. */
function regionOf(
  { region, settings }: DeclaredChannel,
  shipped: Readonly<Record<string, unknown>>,
): unknown {
  return region ?? settings["region"] ?? shipped["region"] ?? undefined;
}

function completed(declared: DeclaredChannel, { channel }: CatalogueFile): DeclaredChannel {
  const { region: _, ...shipped } = channel.settings;
  const baseUrl = declared.base_url ?? channel.baseUrl;
  return {
    ...declared,
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(channel.isOwnServer && declared.own_server === undefined && { own_server: true }),
    settings: { ...(declared.region === undefined ? channel.settings : shipped), ...declared.settings },
  };
}

/** The address that a provider's settings have without one; null where each customer has an address of its own. */
function defaultBaseUrlOf(schema: ZodType): string | null {
  const { properties } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const address = properties?.["baseUrl"];
  return typeof address === "object" && typeof address.default === "string" ? address.default : null;
}
