import type { Channel, Route } from "../domain/channel.ts";
import { isPattern } from "../lib/pattern-map.ts";
import { formatPath } from "../domain/schema-problems.ts";
import type { SettingRow } from "./describe.ts";
import type { LoadedSettings } from "./load.ts";
import type { Settings } from "./settings.ts";

/** The result of a reload. */
export interface Reload {
  /** The running settings, in which all reloadable parts come from the new settings. */
  loaded: LoadedSettings;
  /** Paths of changed settings that took effect, such as `models.house-chat`. */
  changed: string[];
  /** Paths of changed settings that take effect only at the next start. */
  needsRestart: string[];
}

/** Sections of the file that take effect without a restart. */
const RELOADABLE = new Set(["channels", "models", "limits", "deadlines", "sandbox", "catalogue"]);
/** The only setting outside of `RELOADABLE` that takes effect without a restart. Channels and webhooks use it. */
const RELOADABLE_PATH = "server.allowed_networks";

/**
 * Compares newly loaded settings with the running settings. An unchanged channel remains the same object, also in
 * routes, so that its connections and tokens are kept.
 */
export function mergeReloaded(running: LoadedSettings, next: LoadedSettings): Reload {
  const channels = keepUnchanged(running.settings.channels, next.settings.channels);
  const { models, prices, limits, timeouts, sandbox, unusableChannels, allowedNetworks } = next.settings;
  const routes = next.settings.routes.map((route) => withChannels(route, channels));
  const settings = {
    ...running.settings,
    allowedNetworks,
    models,
    channels,
    unusableChannels,
    routes,
    prices,
    limits,
    timeouts,
    sandbox,
  };
  const rows = [...next.rows.filter(isReloadable), ...running.rows.filter((row) => !isReloadable(row))];
  const differing = differingRows(running.rows, next.rows);
  return {
    loaded: { ...next, settings, rows },
    changed: [
      ...differing.filter((row) => isReloadable(row) && !isEntry(row)).map(({ path }) => path),
      ...changedIds(channelsOf(running.settings), channelsOf(settings)).map((id) =>
        formatPath(["channels", id]),
      ),
      ...changedIds(modelsOf(running.settings), modelsOf(settings)).map((id) => formatPath(["models", id])),
    ],
    needsRestart: [
      ...differing.filter((row) => !isReloadable(row)).map(({ path }) => path),
      ...changedAddresses(running.settings, next.settings),
    ],
  };
}

/** True when a change of the setting takes effect without a restart. */
export function isReloadable({ path }: Pick<SettingRow, "path">): boolean {
  return RELOADABLE.has(sectionOf(path)) || path === RELOADABLE_PATH;
}

/** True for the row of a channel or model. This row does not show all fields of the channel or model. */
function isEntry({ path }: SettingRow): boolean {
  return ["channels", "models"].includes(sectionOf(path));
}

function sectionOf(path: string): string {
  return /^\w+/.exec(path)?.[0] ?? path;
}

function differingRows(running: readonly SettingRow[], next: readonly SettingRow[]): SettingRow[] {
  const values = new Map(running.map(({ path, value }) => [path, value]));
  return next.filter(({ path, value }) => values.get(path) !== value);
}

/**
 * Returns the paths of addresses that are set before and after a reload but differ. Compares the full addresses: the
 * rows mask passwords, so a row stays the same when only a password changes.
 */
function changedAddresses(running: Settings, next: Settings): string[] {
  const addresses = [
    ["database_url", (settings: Settings) => settings.databaseUrl],
    ["redis_url", (settings: Settings) => settings.redisUrl],
    ["blob_url", (settings: Settings) => settings.blobUrl],
    ["ledger_export.url", (settings: Settings) => settings.ledgerExport?.url ?? null],
  ] as const;
  const isSecretOnly = (one: string | null, other: string | null) =>
    one !== null && other !== null && one !== other;
  return addresses.filter(([, of]) => isSecretOnly(of(running), of(next))).map(([path]) => path);
}

function keepUnchanged(
  running: ReadonlyMap<string, Channel>,
  next: ReadonlyMap<string, Channel>,
): Map<string, Channel> {
  return new Map(
    [...next].map(([id, channel]) => {
      const old = running.get(id);
      return [id, old && Bun.deepEquals(old, channel) ? old : channel];
    }),
  );
}

function withChannels({ strategy, targets }: Route, channels: ReadonlyMap<string, Channel>): Route {
  return {
    strategy,
    targets: targets.map((target) => ({
      ...target,
      channel: channels.get(target.channel.id) ?? target.channel,
    })),
  };
}

/** Returns the channels by id. The value of a channel that cannot be used is null. */
function channelsOf({ channels, unusableChannels }: Settings): Map<string, unknown> {
  return new Map<string, unknown>([...unusableChannels.map((id) => [id, null] as const), ...channels]);
}

/**
 * Returns all data of each model. Targets contain only the ids of channels, so that a changed channel is not also
 * reported as a change of each model that it serves.
 */
function modelsOf({ models, prices, routes }: Settings): Map<string, unknown> {
  const ids = [...models.declared.keys()];
  const patterns = ids.filter(isPattern).toSorted((one, other) => other.length - one.length);
  // A price whose key is not the id of a model comes from the price table of a pattern.
  const priced = Map.groupBy(prices.declared, ([key]) =>
    models.declared.has(key) ? key : patterns.find((pattern) => key.startsWith(pattern.slice(0, -1))),
  );
  return new Map(
    [...models.declared].map(([id, model]) => {
      const { strategy, targets = [] } = routes.get(id) ?? {};
      const named = targets.map(({ channel, ...target }) => [channel.id, target]);
      return [id, [model, prices.get(id), priced.get(id), strategy, named]];
    }),
  );
}

function changedIds(running: ReadonlyMap<string, unknown>, next: ReadonlyMap<string, unknown>): string[] {
  const ids = new Set([...running.keys(), ...next.keys()]);
  return [...ids].filter((id) => !Bun.deepEquals(running.get(id), next.get(id)));
}
