import type { Cancellation } from "../../lib/waiting.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { AccessTokens } from "./access-tokens.ts";

/** The credential of one call. */
export interface Credential {
  headers: Readonly<Record<string, string>>;
  /** The secret in the headers, which must not appear in an error. */
  secret: string;
  /** Discards a credential that the vendor did not accept, so that the next call gets a new credential. */
  drop?(): void;
}

/** Returns the credential for one call. Throws an `UpstreamError`, or the signal's reason. */
export type Authenticate = (signal: Cancellation) => Promise<Credential>;

/** Makes credentials from access tokens (RFC 6750, 2.1). */
export function authenticateByToken(tokens: AccessTokens): Authenticate {
  return async (signal) => {
    const token = await tokens.get(signal);
    return { headers: { authorization: `Bearer ${token}` }, secret: token, drop: () => tokens.drop(token) };
  };
}

/** Makes a call with a credential. Discards the credential when the vendor does not accept it. */
export async function withCredential<Result>(
  authenticate: Authenticate,
  signal: Cancellation,
  call: (credential: Credential) => Promise<Result>,
): Promise<Result> {
  const credential = await authenticate(signal);
  try {
    return await call(credential);
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 401) credential.drop?.();
    throw error;
  }
}
