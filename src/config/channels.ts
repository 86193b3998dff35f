import type { ZodType } from "zod";
import type { Channel, Timeouts } from "../domain/channel.ts";
import { formatPath } from "../domain/schema-problems.ts";
import { meantBy } from "../lib/suggest.ts";
import type { CatalogueFile } from "./catalogue.ts";
import type { DeclaredChannel } from "./channel-schema.ts";
import { assembleSettings } from "./channel-settings.ts";
import type { ReportShown } from "./problems.ts";
import type { SecretSource } from "./secret-reference.ts";
import { operatorMessage } from "../domain/operator-message.ts";

/** The provider adapters that exist, each with the schema of its settings. */
export type ProviderSchemas = ReadonlyMap<string, { settings: ZodType }>;

export interface ChannelSources {
  declared: Readonly<Record<string, DeclaredChannel>>;
  catalogue: readonly CatalogueFile[];
  providers: ProviderSchemas;
  secrets: SecretSource;
  /** Settings added to every channel of a provider, such as the sandbox's speed. */
  extraSettings: Readonly<Record<string, Record<string, unknown>>>;
  /** True when the built-in sandbox has a channel. */
  isSandboxOn: boolean;
}

/** The built-in provider that calls no vendor: it generates all replies itself. */
export const SANDBOX = "sandbox";

/**
 * Returns the usable channels that the file declares, and the usable channels of the catalogue whose variables are set.
 * A declared channel replaces the catalogue's channel of the same id.
 */
export async function buildChannels(
  sources: ChannelSources,
  report: ReportShown,
): Promise<Map<string, Channel>> {
  const channels = new Map<string, Channel>();
  const all = { ...catalogueChannels(sources), ...sources.declared };
  for (const [id, declared] of Object.entries(all)) {
    const channel = await buildChannel(id, declared, sources, report);
    if (channel) channels.set(id, channel);
  }
  return channels;
}

/** Returns the enabled channels of the catalogue in the form of the file. */
export function catalogueChannels(
  sources: Pick<ChannelSources, "catalogue" | "secrets" | "extraSettings" | "isSandboxOn">,
): Record<string, DeclaredChannel> {
  const channels: Record<string, DeclaredChannel> = {};
  const { env } = sources.secrets;
  for (const { provider, channel } of sources.catalogue) {
    const { credentialVariable: variable, baseUrlVariable, regionVariable } = channel;
    const region = regionVariable === null ? "" : env[regionVariable];
    if (provider === SANDBOX && !sources.isSandboxOn) continue;
    if (variable !== null && !env[variable]) continue;
    if (baseUrlVariable !== null && !env[baseUrlVariable]) continue;
    channels[channel.id] = {
      provider,
      base_url: baseUrlVariable === null ? channel.baseUrl : env[baseUrlVariable],
      credential: variable === null ? undefined : { env: variable },
      settings: { ...channel.settings, ...sources.extraSettings[provider] },
      ...(region && { region }),
      ...(channel.isOwnServer && { own_server: true }),
    };
  }
  return channels;
}

/** Builds one channel. Returns null after it has reported a problem. */
export async function buildChannel(
  id: string,
  declared: DeclaredChannel,
  sources: Pick<ChannelSources, "providers" | "secrets">,
  report: ReportShown,
): Promise<Channel | null> {
  const path = formatPath(["channels", id]);
  const provider = sources.providers.get(declared.provider);
  if (!provider) {
    const names = [...sources.providers.keys()];
    const suggestion = meantBy(declared.provider, names) ?? { known: names.join(", ") };
    const words = operatorMessage("error.provider", { provider: declared.provider, ...suggestion });
    report(`${path}.provider`, words);
    return null;
  }
  const settings = await assembleSettings(path, declared, provider.settings, sources.secrets, report);
  if (!settings) return null;
  return {
    id,
    provider: declared.provider,
    settings,
    timeouts: declared.deadlines && toTimeouts(declared.deadlines),
    maxConcurrent: declared.max_concurrent,
    ...(declared.own_server && { isOwnServer: true }),
  };
}

function toTimeouts(timeouts: NonNullable<DeclaredChannel["deadlines"]>): Partial<Timeouts> {
  const { first_byte_ms: firstByteMs, idle_ms: idleMs, total_ms: totalMs } = timeouts;
  return {
    ...(firstByteMs !== undefined && { firstByteMs }),
    ...(idleMs !== undefined && { idleMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
}
