import { z, type ZodType } from "zod";
import type { CatalogueFile } from "./catalogue.ts";
import type { ProviderSchemas } from "./channels.ts";
import type { DeclaredChannel } from "./channel-schema.ts";
import type { StoredLayer } from "./stored-entries.ts";

/** The stored channels, completed by the catalogue. */
interface StoredChannels {
  /**
   * Channels by id: the stored channels with missing fields from the catalogue, and channels of the catalogue that use
   * the credential of a stored channel.
   */
  channels: Map<string, { declared: DeclaredChannel; origin: "database" | "catalogue"; storedId: string }>;
  /** Disabled channels of the catalogue, each with the stored channel that serves its models instead. */
  substitutes: Map<string, string>;
}

/**
 * Completes each stored channel of a shipped vendor, so that the vendor's shipped models can be called immediately. If
 * the catalogue's own channel is disabled, the stored channel replaces it, whatever the stored channel's id is. If the
 * catalogue has several channels for the credential, the other channels for this credential are added.
 */
export function completeStoredChannels(
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

/**
 * Returns the catalogue file whose channel has the same id, else the file whose channel has the same address and
 * region.
 */
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
  // If a vendor has several channels for one credential, its main channel has the provider's name.
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

/** Returns the region of the channel, else the region of the catalogue. */
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

/** Returns the default address in a provider's settings; null when there is none. */
function defaultBaseUrlOf(schema: ZodType): string | null {
  const { properties } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const address = properties?.["baseUrl"];
  return typeof address === "object" && typeof address.default === "string" ? address.default : null;
}
