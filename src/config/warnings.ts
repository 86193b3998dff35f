import type { PatternMap } from "../lib/pattern-map.ts";
import type { Route } from "../domain/channel.ts";
import { formatPath, type Problem } from "../domain/schema-problems.ts";
import { readPostgresAddress } from "../lib/postgres-address.ts";
import { editDistance } from "../lib/suggest.ts";
import type { CatalogueFile } from "./catalogue.ts";
import { SANDBOX } from "./channels.ts";
import { ownVariables, proxyVariables, UNCHECKED_CERTIFICATES, type Environment } from "./environment.ts";
import { isSecretReference } from "./secret-reference.ts";
import type { Settings } from "./settings.ts";

interface WarningSources {
  env: Environment;
  catalogue: readonly CatalogueFile[];
  /** The file as written, in which references to secrets (`env: NAME`) are not yet replaced by the secrets. */
  written: unknown;
  /** Ids of the channels that exist. */
  channels: ReadonlySet<string>;
  routes: Settings["routes"];
  proxy: Settings["outbound"]["proxy"];
  databaseUrl: Settings["databaseUrl"];
}

/**
 * Returns warnings about valid settings that are probably mistakes, by path or variable. The warnings are shown at the
 * start and by the command `check`.
 */
export function findWarnings(sources: WarningSources): Problem[] {
  const referenced = referencedVariables(sources.written);
  return [
    ...incompleteChannels(sources, referenced),
    ...misspeltVariables(sources, referenced),
    ...mixedRoutes(sources.routes),
    ...ignoredVariables(sources),
    ...uncheckedDatabases(sources),
  ];
}

/** Returns warnings about variables that the runtime would obey and the gateway ignores. */
function ignoredVariables({ env, proxy }: WarningSources): Problem[] {
  const certificates = "is ignored: certificates are always checked";
  const proxies = "is ignored: vendors are called directly unless `outbound.proxy` is `environment`";
  return [
    ...(env[UNCHECKED_CERTIFICATES] === "0" ? [{ path: UNCHECKED_CERTIFICATES, message: certificates }] : []),
    ...(proxy === "none" ? proxyVariables(env).map((path) => ({ path, message: proxies })) : []),
  ];
}

/** Returns warnings about connections to a remote database whose traffic an attacker could read or fake. */
function uncheckedDatabases({ databaseUrl }: WarningSources): Problem[] {
  if (databaseUrl === null) return [];
  const messages = {
    disable: (host: string) => `sends passwords and records to ${host} in plain text: sslmode is disable`,
    "no-verify": (host: string) => `accepts any certificate from ${host}: sslmode is no-verify`,
    "verify-ca": null,
    "verify-full": null,
  };
  return readPostgresAddress(databaseUrl).servers.flatMap(({ host, isLocal, encryption }) => {
    const messageFor = messages[encryption];
    return isLocal || messageFor === null ? [] : [{ path: "database_url", message: messageFor(host) }];
  });
}

/** Reports each shipped channel that needs two variables if only one of them is set. */
function incompleteChannels(
  { env, catalogue, channels }: WarningSources,
  referenced: ReadonlySet<string>,
): Problem[] {
  return catalogue.flatMap(({ channel }) => {
    const needed = [channel.credentialVariable, channel.baseUrlVariable].filter((name) => name !== null);
    const given = needed.filter((name) => env[name]);
    const [variable] = given;
    const missing = needed.filter((name) => !env[name]);
    const isUsed = channels.has(channel.id) || given.some((name) => referenced.has(name));
    if (variable === undefined || missing.length === 0 || isUsed) return [];
    const message = `is set, but the channel ${channel.id} is off: it also needs ${missing.join(" and ")}`;
    return [{ path: variable, message }];
  });
}

/** Minimum length of a name that is compared: shorter names resemble too many others. */
const MIN_NAME_LENGTH = 7;
/** Minimum length of names for which even two different letters indicate a mistake. */
const LONG_NAME_LENGTH = 12;

/** Reports variables that nothing reads and whose name differs in one or two letters from a variable that is read. */
function misspeltVariables({ env, catalogue }: WarningSources, referenced: ReadonlySet<string>): Problem[] {
  const vendors = catalogue.flatMap(({ channel }) => [channel.credentialVariable, channel.baseUrlVariable]);
  const known = new Set([...ownVariables(), ...vendors.filter((name) => name !== null), ...referenced]);
  const candidates = [...known].filter((name) => name.length >= MIN_NAME_LENGTH && !env[name]);
  return Object.keys(env)
    .filter((name) => !known.has(name) && env[name])
    .flatMap((name) => {
      const meant = candidates.find((candidate) => isMisspelling(name, candidate));
      return meant === undefined ? [] : [{ path: name, message: `is not read; did you mean ${meant}?` }];
    });
}

function isMisspelling(name: string, candidate: string): boolean {
  const maxDistance = candidate.length >= LONG_NAME_LENGTH ? 2 : 1;
  if (Math.abs(name.length - candidate.length) > maxDistance) return false;
  return editDistance(name.toUpperCase(), candidate) <= maxDistance;
}

/** Reports routes that contain both a vendor and the sandbox: generated replies would cost the vendor's price. */
function mixedRoutes({ declared }: PatternMap<Route>): Problem[] {
  return [...declared].flatMap(([model, { targets }]) => {
    const providers = new Set(targets.map(({ channel }) => channel.provider));
    if (!providers.has(SANDBOX) || providers.size === 1) return [];
    const path = `${formatPath(["models", model])}.route`;
    const message =
      "mixes the sandbox with a vendor: callers would be billed for made-up output when the vendor fails";
    return [{ path, message }];
  });
}

function referencedVariables(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== "object" || node === null) return found;
  if (isSecretReference(node)) return "env" in node ? found.add(node.env) : found;
  for (const child of Object.values(node)) referencedVariables(child, found);
  return found;
}
