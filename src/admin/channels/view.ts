import type { z } from "zod";
import { camelCase } from "../../lib/casing.ts";
import { isMaskedHeader, isSecretName } from "../../lib/secret-names.ts";
import type { ConfigurationState, ConfiguredChannel, StoredEntry } from "../configuration/store-port.ts";
import type { ChannelHealth } from "../status/channel-health.ts";
import { isoTime } from "../output.ts";
import { isSealed, partsOf } from "./entry.ts";
import { MASK, type channelSchema } from "./schema.ts";

/** A channel in the form that administration shows, without secrets. */
export type ChannelView = z.output<typeof channelSchema>;

interface Surroundings {
  state: Pick<ConfigurationState, "problems">;
  entry: StoredEntry | undefined;
  /** Null when the health was not read. */
  health: ChannelHealth | null;
}

export function viewChannel(configured: ConfiguredChannel, surroundings: Surroundings): ChannelView {
  const { id, origin, declared, channel } = configured;
  const { entry, state, health } = surroundings;
  const settings = partsOf(channel?.settings);
  const { baseUrl = declared["base_url"], apiKey, region = declared["region"] } = settings;
  const isOwn = origin === "database" && entry !== undefined;
  return {
    id,
    provider: declared.provider,
    origin,
    baseUrl: textOrNull(baseUrl),
    hasCredential: declared["credential"] !== undefined && declared["credential"] !== "none",
    credentialEnd: typeof apiKey === "string" && /^\S{12,1000}$/.test(apiKey) ? apiKey.slice(-4) : null,
    region: textOrNull(region),
    settings: masked(partsOf(declared["settings"]), isSecretName, camelCase),
    headers: textsOf(masked(partsOf(declared["headers"]), isMaskedHeader, (name) => name)),
    maxConcurrent: typeof declared["max_concurrent"] === "number" ? declared["max_concurrent"] : null,
    deadlines: deadlinesOf(declared["deadlines"]),
    isOwnServer: declared["own_server"] === true,
    isUsable: channel !== null,
    problems: state.problems
      .filter((problem) => problem.kind === "channel" && problem.id === id)
      .map(({ path, message }) => `${path} ${message}`),
    health: channel === null ? null : health,
    createdAt: isOwn ? isoTime(entry.createdAt) : null,
    version: isOwn ? Number(entry.revision) : null,
  };
}

function masked(
  parts: Readonly<Record<string, unknown>>,
  isSecret: (name: string) => boolean,
  nameOf: (name: string) => string,
): Record<string, unknown> {
  const shown = Object.entries(parts).map(([name, value]) => [
    nameOf(name),
    isSecret(name) || isSealed(value) || isReference(value) ? MASK : value,
  ]);
  return Object.fromEntries(shown);
}

/** True for a reference to a secret, and for a decrypted secret of the database. */
function isReference(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && ("env" in value || "file" in value || "text" in value)
  );
}

function textsOf(parts: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, String(value)]));
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function deadlinesOf(value: unknown): ChannelView["deadlines"] {
  const { first_byte_ms, idle_ms, total_ms } = partsOf(value);
  const named = Object.entries({ firstByteMs: first_byte_ms, idleMs: idle_ms, totalMs: total_ms });
  const given = named.filter(([, ms]) => ms !== undefined);
  return given.length === 0 ? null : Object.fromEntries(given);
}
