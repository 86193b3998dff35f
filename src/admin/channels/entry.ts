import { operatorMessage } from "../../domain/operator-message.ts";
import { problemAt } from "../../domain/schema-problems.ts";
import { camelCase, snakeCase } from "../../lib/casing.ts";
import type { Channel } from "../../domain/channel.ts";
import { AddressRefused, NetworkGuard } from "../../lib/network-guard.ts";
import { isMaskedHeader, isSecretName } from "../../lib/secret-names.ts";
import type { z } from "zod";
import { AdminError, wrongInput } from "../admin-error.ts";
import { MASK, type channelChangeSchema } from "./schema.ts";
import { accessOf, type Caller } from "../sign-in/signed-in.ts";
import type { OperationContext } from "../context.ts";
import type { EntryValue, SealedSecret } from "../configuration/store-port.ts";

type ChannelChange = Omit<z.output<typeof channelChangeSchema>, "version">;
type Parts = Readonly<Record<string, unknown>>;

/**
 * Returns the stored form of a channel after a change: field names as in the configuration file, and sealed secrets. A
 * field that is missing in the change stays unchanged. Null removes a field; a null credential is stored as `none`.
 */
export async function changeEntry(
  { configuration, store }: Pick<OperationContext, "configuration" | "store">,
  id: string,
  before: EntryValue,
  { credential, headers, settings, ...plain }: ChannelChange,
): Promise<EntryValue> {
  const seal = (field: string, text: string): Promise<SealedSecret> =>
    configuration.seal(store, { kind: "channel", id, field }, text);
  const { baseUrl, isOwnServer, maxConcurrent, deadlines, region } = plain;
  const changed: Record<string, unknown> = {
    ...before,
    ...named({
      base_url: baseUrl,
      region,
      own_server: isOwnServer,
      max_concurrent: maxConcurrent,
      deadlines: deadlines && toFileDeadlines(deadlines),
    }),
  };
  if (credential === null) changed["credential"] = "none";
  else if (credential === MASK) requireKnown(before["credential"], "credential");
  else if (credential !== undefined) changed["credential"] = await seal("credential", credential);
  if (headers)
    changed["headers"] = await mergeSecrets("headers", partsOf(before["headers"]), headers, (name, value) =>
      isMaskedHeader(name) && typeof value === "string" ? seal(`headers.${name}`, value) : value,
    );
  if (settings) {
    const inFile = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [snakeCase(name), value]),
    );
    changed["settings"] = await mergeSecrets(
      "settings",
      partsOf(before["settings"]),
      inFile,
      (name, value) =>
        isSecretName(name) && typeof value === "string" ? seal(`settings.${name}`, value) : value,
    );
  }
  return Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== null && value !== undefined),
  );
}

/**
 * Throws 400 when a change would send a stored secret to another address. The person who chooses that address could
 * otherwise read the secret.
 */
export function requireSecretsForAddress(before: EntryValue, after: EntryValue): void {
  if (Bun.deepEquals(addressesOf(before), addressesOf(after))) return;
  const kept = secretsOf(before).find(([field, secret]) =>
    secretsOf(after).some(([other, same]) => other === field && same === secret),
  );
  if (kept)
    throw new AdminError(
      400,
      inputField(kept[0]),
      operatorMessage("error.channel.secretAgain", { field: inputField(kept[0]) }),
    );
}

/**
 * Returns the entry, with `private_networks` if its addresses may be private. This is decided again at every change of
 * an address: owners may choose any address, other members only the public internet and `server.allowed_networks`.
 */
export function withReach(caller: Caller, before: EntryValue, after: EntryValue): EntryValue {
  const isSame = Bun.deepEquals(addressesOf(before), addressesOf(after));
  const isPrivate = isSame ? before["private_networks"] === true : accessOf(caller).role === "owner";
  const { private_networks: _, ...value } = after;
  return isPrivate ? { ...value, private_networks: true } : value;
}

/**
 * Throws 400 for the first address that a channel may not call. If private addresses are allowed, host names are not
 * looked up here; each call checks their addresses.
 */
export async function requireReachable(channel: Channel, value: EntryValue): Promise<void> {
  const isNamed = value["private_networks"] !== true;
  const guard = new NetworkGuard(channel.networks ?? [], isNamed ? undefined : async () => []);
  const baseUrl = baseUrlOf(channel);
  const all = [...(baseUrl === undefined ? [] : [["base_url", baseUrl] as const]), ...namedAddresses(value)];
  for (const [field, address] of all)
    await guard.addressesOf(new URL(address).hostname).catch((error: unknown) => {
      if (!(error instanceof AddressRefused)) return;
      throw new AdminError(
        400,
        inputField(field),
        operatorMessage("error.channel.address", { field: inputField(field) }),
      );
    });
}

/** Returns the address of a channel, or the provider's default; undefined when the provider derives the address. */
export function baseUrlOf({ settings }: Pick<Channel, "settings">): string | undefined {
  const { baseUrl } = partsOf(settings);
  return typeof baseUrl === "string" ? baseUrl : undefined;
}

/** The message for a refused address. */
export const NOT_ALLOWED =
  "leads to an address that is not allowed: link-local and metadata addresses never are, private ones where an owner, the configuration file or `server.allowed_networks` names them";

/** Returns the input's name for a path of the stored form: `settings.clientSecret` for `settings.client_secret`. */
export function inputField(path: string): string {
  const [first = "", second] = path.split(".");
  const renamed: Readonly<Record<string, string>> = { own_server: "isOwnServer" };
  const name = renamed[first] ?? camelCase(first);
  if (second === undefined) return name;
  return first === "headers" ? path : `${name}.${camelCase(second)}`;
}

/** Returns every sealed secret with its field. */
export function secretsOf(value: EntryValue): [field: string, sealed: string][] {
  const found = (field: string, part: unknown): [string, string][] =>
    isSealed(part) ? [[field, part.sealed]] : [];
  const below = (name: string) =>
    Object.entries(partsOf(value[name])).flatMap(([key, part]) => found(`${name}.${key}`, part));
  return [...found("credential", value["credential"]), ...below("headers"), ...below("settings")];
}

export function isSealed(part: unknown): part is SealedSecret {
  return typeof part === "object" && part !== null && "sealed" in part && typeof part.sealed === "string";
}

/** Returns a part of an entry as a mapping; an empty mapping for any other value. */
export function partsOf(value: unknown): Parts {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Returns the provider and the addresses, which decide where secrets are sent. */
function addressesOf(value: EntryValue): unknown {
  return [value["provider"], namedAddresses(value)];
}

function namedAddresses(value: EntryValue): [field: string, address: string][] {
  const inSettings = Object.entries(partsOf(value["settings"])).filter(([name]) => name.endsWith("_url"));
  const all = [
    ["base_url", value["base_url"]],
    ...inSettings.map(([name, each]) => [`settings.${name}`, each]),
  ];
  return all.filter((each): each is [string, string] => typeof each[1] === "string");
}

/** Throws 400 unless a secret is stored. Call it for the mask in the input, which is never a secret itself. */
export function requireKnown(known: unknown, field: string, path = inputField(field)): void {
  if (isSealed(known)) return;
  throw new AdminError(400, path, operatorMessage("error.channel.masked", { field: path }));
}

async function mergeSecrets(
  below: "headers" | "settings",
  before: Parts,
  change: Parts,
  write: (name: string, value: unknown) => unknown,
): Promise<Parts> {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    if (value === MASK) requireKnown(before[name], `${below}.${name}`);
    else if (value === null) delete after[name];
    // Only the gateway seals: a sealed secret in the input would be one that its author cannot read.
    else if (isSealed(value))
      throw wrongInput([problemAt(inputField(`${below}.${name}`), operatorMessage("input.text", {}))]);
    else after[name] = await write(name, value);
  }
  return after;
}

function named(fields: Parts): Parts {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function toFileDeadlines({ firstByteMs, idleMs, totalMs }: NonNullable<ChannelChange["deadlines"]>): Parts {
  return named({ first_byte_ms: firstByteMs, idle_ms: idleMs, total_ms: totalMs });
}
