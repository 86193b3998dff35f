import { operatorMessage } from "../../domain/operator-message.ts";
import type { z } from "zod";
import { meantBy } from "../../lib/suggest.ts";
import { AdminError } from "../admin-error.ts";
import { changeEntry, inputField, requireReachable, requireSecretsForAddress, withReach } from "./entry.ts";
import type { channelChangeSchema, channelCreationSchema } from "./schema.ts";
import type { ChannelHealth } from "../status/channel-health.ts";
import { readStatus } from "../status/status.ts";
import { viewChannel, type ChannelView } from "./view.ts";
import { channelUses, describeUses, type ChannelUses } from "./uses.ts";
import {
  readConfigured,
  readWith,
  requireChangeable,
  requireVersion,
  storedEntry,
  type ConfiguredValues,
} from "../configuration/configured.ts";
import type { ConfiguredChannel, EntryValue, StoredEntry } from "../configuration/store-port.ts";
import type { OperationContext } from "../context.ts";

/** Returns every channel: of the file, the environment, the database and the catalogue. */
export async function listChannels(context: OperationContext): Promise<ChannelView[]> {
  const configured = await readConfigured(context);
  const { channels: health } = await readStatus(context);
  return [...configured.state.channels.values()].map((channel) => viewOf(configured, channel, health));
}

/** Returns one channel with the routes and models that depend on it. Throws 404 for an unknown id. */
export async function getChannel(
  context: OperationContext,
  id: string,
): Promise<ChannelView & { uses: ChannelUses }> {
  const configured = await readConfigured(context);
  const channel = requireChannel(configured, id);
  const { channels: health } = await readStatus(context);
  return { ...viewOf(configured, channel, health), uses: await channelUses(context, configured, id) };
}

/**
 * Adds a channel. Its credential is encrypted before it is stored. All processes use the channel within half a second.
 * Throws 400 for input that its provider does not accept, and 409 for an id that exists.
 */
export async function createChannel(
  context: OperationContext,
  input: z.output<typeof channelCreationSchema>,
): Promise<ChannelView> {
  const { id: wanted, provider, ...fields } = input;
  const configured = await readConfigured(context);
  requireProvider(context, provider);
  const id = wanted ?? freeId(configured, provider);
  requireFree(configured, id);
  const value = withReach(context, {}, await changeEntry(context, id, { provider }, fields));
  await checkChannel(context, configured, id, value);
  const entry = { kind: "channel", id, value, createdAt: context.clock.now() } as const;
  if (!(await context.store.configuration.create(entry, context.by))) throw taken(id);
  return await viewNow(context, id);
}

/**
 * Changes the fields that the input contains. Running requests continue with the earlier channel. Throws 409 for a
 * channel that is not in the database, or that was changed since the given version.
 */
export async function updateChannel(
  context: OperationContext,
  id: string,
  input: z.output<typeof channelChangeSchema>,
): Promise<ChannelView> {
  const { version, ...change } = input;
  const configured = await readConfigured(context);
  const entry = requireStored(configured, id);
  requireVersion(entry, version);
  const changed = await changeEntry(context, id, entry.value, change);
  requireSecretsForAddress(entry.value, changed);
  const value = withReach(context, entry.value, changed);
  await checkChannel(context, configured, id, value);
  const after = await context.store.configuration.update(
    entry,
    (now) => {
      requireVersion(now, Number(entry.revision));
      return value;
    },
    context.by,
  );
  if (!after) throw unknown(configured, id);
  return await viewNow(context, id);
}

/**
 * Removes a channel from the database. Throws 409 while the channel is in use, and names the uses. With `force`,
 * removes the channel nevertheless; the routes continue without the channel.
 */
export async function removeChannel(context: OperationContext, id: string, force = false): Promise<void> {
  const configured = await readConfigured(context);
  requireStored(configured, id);
  if (!force) {
    const uses = describeUses(await channelUses(context, configured, id));
    if (uses !== null)
      throw new AdminError(
        409,
        "force",
        `"${id}" is in use: ${uses}; remove it all the same with force (--force at the command line)`,
      );
  }
  if (!(await context.store.configuration.remove({ kind: "channel", id }, context.by)))
    throw unknown(configured, id);
}

/** Builds a channel from an entry. Throws 400 for a channel that cannot be used or may not call its address. */
export async function checkChannel(
  context: OperationContext,
  configured: ConfiguredValues,
  id: string,
  value: EntryValue,
): Promise<ConfiguredChannel> {
  const state = await readWith(context, configured, { kind: "channel", id, value }, fieldOf(id));
  const checked = requireChannel({ ...configured, state }, id);
  if (checked.channel) await requireReachable(checked.channel, value);
  return checked;
}

/** Throws 400 with a suggestion for an unknown provider. */
export function requireProvider({ configuration }: OperationContext, name: string): void {
  const names = configuration.providers().map((each) => each.name);
  if (names.includes(name)) return;
  const suggestion = meantBy(name, names) ?? { known: names.join(", ") };
  throw new AdminError(400, "provider", operatorMessage("error.provider", { provider: name, ...suggestion }));
}

/** Returns the channel, or throws 404 with a suggestion. */
export function requireChannel({ state }: ConfiguredValues, id: string): ConfiguredChannel {
  const channel = state.channels.get(id);
  if (!channel) throw unknown({ state }, id);
  return channel;
}

/** Returns a function that translates a path of the stored form into the input's field name, for messages. */
export function fieldOf(id: string): (path: string) => string {
  return (path) => {
    const rest = path.startsWith(`channels.${id}`)
      ? path.slice(`channels.${id}`.length)
      : path.replace(/^channels\["[^"]*"\]/, "");
    return inputField(rest.replace(/^\./, ""));
  };
}

/** Returns a free id of a channel that is shipped for the provider, or else a free id made from the provider's name. */
export function freeId({ state }: Pick<ConfiguredValues, "state">, provider: string): string {
  const isFree = (id: string): boolean => (state.channels.get(id)?.origin ?? "catalogue") === "catalogue";
  const shipped = state.shippedChannels.filter((each) => each.provider === provider).map(({ id }) => id);
  const candidates = [...(shipped.includes(provider) ? [provider] : shipped), ...shipped, provider];
  for (let number = 2; number < 1000; number++) candidates.push(`${provider}-${number}`);
  return candidates.find((id) => isFree(id) && !isBuiltIn(state, id)) ?? provider;
}

function requireFree({ state, stored }: ConfiguredValues, id: string): void {
  const existing = state.channels.get(id);
  if (existing && existing.origin !== "catalogue") {
    requireChangeable("channel", id, existing.origin);
    throw taken(id);
  }
  if (isBuiltIn(state, id) || stored.some((entry) => entry.kind === "channel" && entry.id === id))
    throw taken(id);
}

/** True for the sandbox's shipped channel, which needs no declaration. */
function isBuiltIn(state: ConfiguredValues["state"], id: string): boolean {
  return state.shippedChannels.some((each) => each.id === id && each.provider === "sandbox");
}

function requireStored(configured: ConfiguredValues, id: string): StoredEntry {
  const entry = storedEntry(configured, "channel", id);
  const { origin } = requireChannel(configured, id);
  requireChangeable("channel", id, origin);
  if (!entry) throw new AdminError(409, null, operatorMessage("error.channel.catalogue", { id }));
  return entry;
}

function taken(id: string): AdminError {
  return new AdminError(409, "id", operatorMessage("error.taken", { noun: "channel", id }));
}

function unknown({ state }: Pick<ConfiguredValues, "state">, id: string): AdminError {
  const suggestion = meantBy(id, state.channels.keys());
  return new AdminError(404, "id", operatorMessage("error.missing", { noun: "channel", id, ...suggestion }));
}

async function viewNow(context: OperationContext, id: string): Promise<ChannelView> {
  const configured = await readConfigured(context);
  return viewOf(configured, requireChannel(configured, id));
}

function viewOf(
  configured: ConfiguredValues,
  channel: ConfiguredChannel,
  health?: ReadonlyMap<string, ChannelHealth>,
): ChannelView {
  return viewChannel(channel, {
    state: configured.state,
    entry: storedEntry(configured, "channel", channel.id),
    health: health?.get(channel.id) ?? null,
  });
}
