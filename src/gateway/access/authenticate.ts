import { hasScope, type ApiKey, type Principal, type Scope } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { DependencyError } from "../dependency-error.ts";
import type { Snapshot } from "../snapshot.ts";
import type { UnknownKeys } from "./unknown-keys.ts";

/** The credentials of a request, from its headers, read before its body. */
export interface Credentials {
  /** The secret of the key; null when none was sent. */
  secret: string | null;
  /** Returns the client's address. Called only when the key has an allowlist or is not known yet. */
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
 * Authenticates a request and returns its key and organization; a known key needs no promise. Throws a `GatewayError`.
 * A failure of the store is `dependency_unavailable`, never a 401.
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

/** Authenticates as `authenticate` does, for a key whose secret is known only by its hash. */
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
  if (!key || key.isDisabled || (key.expiresAt !== null && key.expiresAt <= authenticator.now()))
    throw unusable();
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
