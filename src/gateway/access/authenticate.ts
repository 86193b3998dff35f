import { type ApiKey, hasScope, isUsable, type Principal, type Scope } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { networkOf } from "../../lib/cidr.ts";
import type { Clock } from "../../lib/clock.ts";
import { DependencyError } from "../dependency-error.ts";
import type { Snapshot } from "../snapshot.ts";

/** The credentials in a request's headers. They are read before the body. */
export interface Credentials {
  /** The secret of the key; null when none was sent. */
  secret: string | null;
  /** Returns the client's address. It is called only when the key has an allowlist or is not in memory. */
  address(): string;
}

export interface Authenticator {
  snapshot: Snapshot;
  /** True when a text has the form and checksum of a key. Does not query the store. */
  isWellFormed(secret: string): boolean;
  hash(secret: string): string;
  now(): number;
  unknownKeys: Pick<UnknownKeys, "count">;
}

/**
 * Authenticates a request. Returns its key and organization; a promise only when the key must be looked up in the
 * store. Throws a `GatewayError`. When the store fails, this is `dependency_unavailable` and not a 401.
 */
export function authenticate(
  authenticator: Authenticator,
  credentials: Credentials,
  scope: Scope | null,
): Principal | Promise<Principal> {
  const { secret } = credentials;
  if (secret === null) {
    throw new GatewayError("missing_api_key", "Send your gateway key as `Authorization: Bearer gk_…`.");
  }
  if (!authenticator.isWellFormed(secret)) throw unusable();
  return authenticateHash(authenticator, authenticator.hash(secret), credentials, scope);
}

/** Authenticates as `authenticate` does, by the hash of the key's secret. */
export function authenticateHash(
  authenticator: Authenticator,
  hash: string,
  credentials: Pick<Credentials, "address">,
  scope: Scope | null,
): Principal | Promise<Principal> {
  const found = findKey(authenticator, hash, credentials);
  if (found instanceof Promise) return found.then((key) => admitKey(authenticator, key, credentials, scope));
  return admitKey(authenticator, found, credentials, scope);
}

function findKey(
  { snapshot, unknownKeys }: Authenticator,
  hash: string,
  credentials: Pick<Credentials, "address">,
): ApiKey | null | Promise<ApiKey | null> {
  let takeBack = (): void => {};
  try {
    const found = snapshot.key(hash, () => (takeBack = unknownKeys.count(credentials.address())));
    if (!(found instanceof Promise)) return found;
    return found.then(
      (key) => {
        if (key) takeBack();
        return key;
      },
      (error) => {
        takeBack();
        return asUncheckable(error);
      },
    );
  } catch (error) {
    return asUncheckable(error);
  }
}

function asUncheckable(cause: unknown): never {
  if (!(cause instanceof DependencyError)) throw cause;
  const message = "The key cannot be checked just now. Retry shortly.";
  throw new GatewayError("dependency_unavailable", message, { retryAfterSeconds: 2, cause });
}

function admitKey(
  authenticator: Authenticator,
  key: ApiKey | null,
  credentials: Pick<Credentials, "address">,
  scope: Scope | null,
): Principal {
  if (!key || !isUsable(key, authenticator.now())) throw unusable();
  const organization = authenticator.snapshot.directory().organizations.get(key.organizationId);
  if (!organization || organization.isDisabled) throw unusable();
  if (key.addresses && !key.addresses.has(credentials.address())) {
    throw new GatewayError("ip_not_allowed", "This key may not be used from your address.");
  }
  if (scope !== null) requireScope(key, scope);
  return { key, organization };
}

/** Throws `authentication_required` when the key lacks the scope that a route needs. */
export function requireScope(key: ApiKey, scope: Scope): void {
  if (!hasScope(key, scope))
    throw new GatewayError("authentication_required", `This key lacks the scope \`${scope}\`.`);
}

function unusable(): GatewayError {
  return new GatewayError(
    "authentication_required",
    "The key is unknown, disabled or expired. Keys of this gateway begin with `gk_`. Check it, and send it once.",
  );
}

const WINDOW_MS = 60_000;
/** Maximum number of networks with a counter of their own. All further networks share one counter. */
const MAX_NETWORKS = 10_000;
const OTHERS = "others";

/**
 * Limits the lookups of unknown keys for each client network and minute, so that forged keys cannot flood the store.
 * Keys in memory need no lookup and are never refused. A limit of null turns the counting off.
 */
export class UnknownKeys {
  readonly #clock: Clock;
  readonly #limit: number | null;
  #counts = new Map<string, number>();
  #endsAt = 0;

  constructor(clock: Clock, limit: number | null) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /**
   * Counts a lookup before it is made. Throws `rate_limit_exceeded` when the network has reached its limit. The
   * returned function undoes the count; call it when the key exists or the store failed.
   */
  count(address: string): () => void {
    if (this.#limit === null) return () => {};
    const now = this.#clock.monotonic();
    if (now >= this.#endsAt) {
      this.#counts = new Map();
      this.#endsAt = now + WINDOW_MS;
    }
    const counts = this.#counts;
    const network = networkOf(address);
    const name = counts.has(network) || counts.size < MAX_NETWORKS ? network : OTHERS;
    const count = counts.get(name) ?? 0;
    if (count >= this.#limit) throw this.#refusal(now);
    counts.set(name, count + 1);
    return () => void counts.set(name, (counts.get(name) ?? 1) - 1);
  }

  /** The refusal is a 429 and not a 401: the key may be valid, and its holder should retry. */
  #refusal(now: number): GatewayError {
    const message =
      "Too many requests with unknown keys came from your address. Check the key and retry later.";
    const retryAfterSeconds = Math.max(1, Math.ceil((this.#endsAt - now) / 1000));
    return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds });
  }
}
