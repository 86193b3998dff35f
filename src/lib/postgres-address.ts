/** The address of a PostgreSQL database, read. */
export interface PostgresAddress {
  /** Empty where the address names none. */
  database: string;
  /** At least one, in the order in which they are tried. */
  servers: readonly PostgresServer[];
}

export interface PostgresServer {
  /** The address with this server alone and without a mode of encryption. */
  url: string;
  host: string;
  /** Whether the connection stays on this machine. */
  isLocal: boolean;
  encryption: Encryption;
}

/** By libpq's words, but that `no-verify` is TLS with any certificate; `verify-ca` accepts one of another name. */
export type Encryption = "disable" | "no-verify" | "verify-ca" | "verify-full";

const ENCRYPTIONS: ReadonlyMap<string, Encryption | "default"> = new Map([
  ["disable", "disable"],
  ["no-verify", "no-verify"],
  ["verify-ca", "verify-ca"],
  ["verify-full", "verify-full"],
  // To libpq it is TLS with any certificate, which protects from nobody who can answer in the server's place.
  ["require", "verify-full"],
  // Both fall back to plain text when somebody in between asks for it.
  ["allow", "default"],
  ["prefer", "default"],
]);

const WRITING: ReadonlySet<string | null> = new Set([null, "any", "read-write", "primary"]);

/**
 * Reads `postgres://user:password@host:5432,host2:5432/database?sslmode=…`. Without a mode a connection to another
 * machine is `verify-full`. Throws a `RangeError` that repeats nothing of the address.
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
  return {
    database: decodeURIComponent(first.pathname.slice(1)),
    servers: urls.filter((url) => url !== null).map((url) => readServer(url, chosen)),
  };
}

/** One address for each of the hosts, which are divided by commas and have ports of their own. */
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

/** Addresses of this machine, and folders of sockets. */
const LOCAL = /^(\/.*|localhost|127(\.\d+){3}|\[?::1\]?)$/;
