import { decodeAddressPart } from "./address-part.ts";

interface PostgresAddress {
  /** Name of the database; empty when the address names no database. */
  database: string;
  /** Empty when the address has no password before its host. */
  password: string;
  /** Servers in the order in which they are tried; at least one. */
  servers: readonly PostgresServer[];
}

export interface PostgresServer {
  /** The address reduced to this server, without an encryption mode. */
  url: string;
  host: string;
  /** True when the connection does not leave this machine. */
  isLocal: boolean;
  encryption: Encryption;
}

/**
 * Encryption modes, named as in libpq. The exception is `no-verify`: TLS with any certificate. `verify-ca` accepts a
 * certificate for a name other than the host's.
 */
export type Encryption = "disable" | "no-verify" | "verify-ca" | "verify-full";

const ENCRYPTIONS: ReadonlyMap<string, Encryption | "default"> = new Map([
  ["disable", "disable"],
  ["no-verify", "no-verify"],
  ["verify-ca", "verify-ca"],
  ["verify-full", "verify-full"],
  // `require` is read as `verify-full`: with `require`, libpq accepts any certificate and so does not protect against
  // another machine that responds in place of the server.
  ["require", "verify-full"],
  // `allow` and `prefer` get the default mode: with these, a machine in between can prevent encryption.
  ["allow", "default"],
  ["prefer", "default"],
]);

const WRITING: ReadonlySet<string | null> = new Set([null, "any", "read-write", "primary"]);

/**
 * Reads `postgres://user:password@host:5432,host2:5432/database?sslmode=…`. Without a mode, a connection to another
 * machine uses `verify-full`. Throws a `RangeError` that contains no part of the address.
 */
export function readPostgresAddress(address: string): PostgresAddress {
  const urls = addressesOfServers(address).map((text) => URL.parse(text));
  const [first] = urls;
  if (!first || urls.includes(null) || !/^postgres(ql)?:$/.test(first.protocol))
    throw new RangeError("must be an address such as postgres://host/database");
  const { searchParams } = first;
  if (!first.hostname && !["host", "path", "socket"].some((name) => searchParams.has(name)))
    throw new RangeError("must name a host");
  if (searchParams.has("ssl") || searchParams.has("tls"))
    throw new RangeError("must say sslmode in place of ssl or tls");
  const mode = searchParams.get("sslmode");
  const chosen = ENCRYPTIONS.get(mode ?? "prefer");
  if (chosen === undefined)
    throw new RangeError(`must have one of these as its sslmode: ${[...ENCRYPTIONS.keys()].join(", ")}`);
  if (!WRITING.has(searchParams.get("target_session_attrs")))
    throw new RangeError("must have read-write as its target_session_attrs: the gateway writes");
  // The driver decodes the name of the user itself.
  decodeAddressPart(first.username);
  return {
    database: decodeAddressPart(first.pathname.slice(1)),
    password: decodeAddressPart(first.password),
    servers: urls.filter((url) => url !== null).map((url) => readServer(url, chosen)),
  };
}

/** Returns one address for each host. Hosts are separated by commas and may have their own ports. */
export function addressesOfServers(address: string): string[] {
  const [, before = "", hosts = address, after = ""] =
    /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]+)(.*)$/s.exec(address) ?? [];
  return hosts.split(",").map((host) => `${before}${host}${after}`);
}

function readServer(url: URL, chosen: Encryption | "default"): PostgresServer {
  const { searchParams } = url;
  const host = searchParams.get("host") ?? url.hostname;
  const isLocal = searchParams.has("path") || searchParams.has("socket") || LOCAL.test(host);
  searchParams.delete("sslmode");
  const encryption = chosen !== "default" ? chosen : isLocal ? "disable" : "verify-full";
  return { url: url.href, host, isLocal, encryption };
}

/**
 * Returns the address as a libpq connection string for PostgreSQL's own programs. The password is returned separately,
 * because every user of the machine can read a command line. If hosts differ in encryption, all get the strongest mode.
 * `extraAuthorities` is the path of a file with certificate authorities. Throws a `RangeError` as `readPostgresAddress`
 * does.
 */
export function libpqAddress(
  address: string,
  extraAuthorities?: string,
): { address: string; password: string } {
  const { servers, password } = readPostgresAddress(address);
  const [first = new URL(address), ...others] = servers.map(({ url }) => new URL(url));
  const strongest = Math.max(...servers.map(({ encryption }) => STRENGTHS.indexOf(encryption)));
  const encryption = STRENGTHS[strongest] ?? "verify-full";
  const given = first.searchParams;
  const parameters = new Map([...given].filter(([name]) => LIBPQ_PARAMETERS.has(name)));
  const socket = given.get("path") ?? given.get("socket");
  if (socket !== null) parameters.set("host", socket.replace(/\/\.s\.PGSQL\.\d+$/, ""));
  parameters.set("sslmode", encryption === "no-verify" ? "require" : encryption);
  if (others.length > 0) parameters.set("target_session_attrs", "read-write");
  // Libpq trusts the system's authorities only with this parameter. With `system`, it also requires `verify-full`.
  const authorities = extraAuthorities ?? (encryption === "verify-full" ? "system" : null);
  if (encryption.startsWith("verify-") && authorities !== null && !parameters.has("sslrootcert"))
    parameters.set("sslrootcert", authorities);
  // Libpq decodes percent escapes but not plus signs, so `URLSearchParams` cannot write the query.
  const query = [...parameters].map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  const user = first.username && `${first.username}@`;
  const hosts = [first, ...others].map(({ host }) => host).join(",");
  return {
    address: `${first.protocol}//${user}${hosts}${first.pathname}?${query}`,
    password,
  };
}

/** Modes from the weakest to the strongest. */
const STRENGTHS: readonly Encryption[] = ["disable", "no-verify", "verify-ca", "verify-full"];

/**
 * The parameters that are passed on. Libpq refuses an address with a parameter that it does not know; the driver uses
 * the other parameters itself or sends them as settings of the session.
 */
const LIBPQ_PARAMETERS = new Set([
  "host",
  "port",
  "application_name",
  "connect_timeout",
  "options",
  "sslrootcert",
]);

/** Matches addresses of this machine, and folders of sockets. */
const LOCAL = /^(\/.*|localhost|127(\.\d+){3}|\[?::1\]?)$/;
