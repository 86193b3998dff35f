import { hasScope, type ApiKey, type Principal, type Scope } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { DependencyError, type Snapshot } from "../ports.ts";

/** What a request shows at the door, read from its headers before its body. */
export interface Credentials {
  /** The key; null when none was sent. */
  secret: string | null;
  /** The caller's address; asked for only when the key is bound to addresses. */
  address(): string;
}

export interface Authenticator {
  snapshot: Snapshot;
  /** Whether a text can be a key at all, told without the store. */
  isWellFormed(secret: string): boolean;
  hash(secret: string): string;
  now(): number;
}

/**
 * Lets a request in or not. Answers at once for a known key. A fault of the store is never the caller's: it is
 * `dependency_unavailable`, not a 401.
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
  const found = findKey(authenticator.snapshot, authenticator.hash(secret));
  if (found instanceof Promise) return found.then((key) => admitKey(authenticator, key, credentials, scope));
  return admitKey(authenticator, found, credentials, scope);
}

function findKey(snapshot: Snapshot, hash: string): ApiKey | null | Promise<ApiKey | null> {
  try {
    const found = snapshot.key(hash);
    return found instanceof Promise ? found.catch(asUncheckable) : found;
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
  credentials: Credentials,
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

/** Throws the error of a route that asks for a scope the key lacks. */
export function requireScope(key: ApiKey, scope: Scope): void {
  if (!hasScope(key, scope))
    throw new GatewayError("authentication_required", `This key lacks the scope \`${scope}\`.`);
}

function unusable(): GatewayError {
  return new GatewayError(
    "authentication_required",
    "The key is unknown, disabled or expired. Check it and retry.",
  );
}
