import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { z } from "zod";
import type { GrantedToken } from "../transport/access-tokens.ts";
import { requestToken } from "../transport/token-request.ts";

/** Reads the JSON of a service account's key. Returns null for any other text and for an unusable private key. */
export function readServiceAccount(text: string): ServiceAccount | null {
  try {
    const file = keyFile.parse(JSON.parse(text));
    const key = createPrivateKey(file.private_key);
    if (key.asymmetricKeyType !== "rsa") return null;
    return {
      email: file.client_email,
      key,
      keyId: file.private_key_id,
      projectId: file.project_id,
      tokenUrl: file.token_uri,
    };
  } catch {
    return null;
  }
}

export interface ServiceAccount {
  email: string;
  key: KeyObject;
  keyId?: string;
  projectId?: string;
  tokenUrl: string;
}

/**
 * Exchanges an assertion for an access token (RFC 7523). The account's key signs the assertion. `now`: Unix
 * milliseconds.
 */
export async function requestAccountToken(
  account: ServiceAccount,
  now: number,
  signal: AbortSignal,
): Promise<GrantedToken> {
  const form = new URLSearchParams({ grant_type: GRANT_TYPE, assertion: writeAssertion(account, now) });
  return await requestToken(account.tokenUrl, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
    signal,
  });
}

const keyFile = z.object({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  project_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default("https://oauth2.googleapis.com/token"),
});

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Seconds by which assertions are dated back, in case the clock is slightly fast. */
const SKEW_SECONDS = 30;
/** Lifetime of an assertion, which is the maximum at Google. */
const LIFETIME_SECONDS = 3600;

/** Writes a signed JSON web token in compact form (RFC 7515, RFC 7519). */
function writeAssertion({ email, key, keyId, tokenUrl }: ServiceAccount, now: number): string {
  const issuedAt = Math.floor(now / 1000) - SKEW_SECONDS;
  const header = { alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: issuedAt, exp: issuedAt + LIFETIME_SECONDS };
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
