import type { GrantedToken, RequestToken } from "../transport/access-tokens.ts";
import { withoutEndSlash } from "../transport/channel-settings.ts";
import { requestToken } from "../transport/token-request.ts";

/** An identity in Microsoft Entra: an application with a secret, or a managed identity of the machine. */
interface EntraIdentity {
  tenantId?: string;
  /** Id of the application, or of one of the machine's managed identities. */
  clientId?: string;
  clientSecret?: string;
  authorityUrl: string;
  metadataUrl: string;
}

/** The resource for which tokens are requested (Azure OpenAI, "Role-based access control"). */
const RESOURCE = "https://cognitiveservices.azure.com";

/** Returns the function that requests tokens for Azure OpenAI. */
export function entraTokens({ tenantId, clientId, clientSecret, ...urls }: EntraIdentity): RequestToken {
  if (tenantId === undefined || clientId === undefined || clientSecret === undefined)
    return (signal) => requestMachineToken(urls.metadataUrl, clientId, signal);
  const url = `${withoutEndSlash(urls.authorityUrl)}/${tenantId}/oauth2/v2.0/token`;
  return (signal) => requestApplicationToken(url, { clientId, clientSecret }, signal);
}

/** Requests a token by client credentials (Microsoft identity platform, "OAuth 2.0 client credentials flow"). */
async function requestApplicationToken(
  url: string,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  signal: AbortSignal,
): Promise<GrantedToken> {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
    scope: `${RESOURCE}/.default`,
  });
  return await requestToken(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
    signal,
  });
}

/** Requests a managed identity's token (Azure instance metadata). Bypasses proxies, which could read the token. */
async function requestMachineToken(
  metadataUrl: string,
  clientId: string | undefined,
  signal: AbortSignal,
): Promise<GrantedToken> {
  const query = new URLSearchParams({ "api-version": "2018-02-01", resource: RESOURCE });
  if (clientId !== undefined) query.set("client_id", clientId);
  return await requestToken(`${withoutEndSlash(metadataUrl)}/metadata/identity/oauth2/token?${query}`, {
    method: "GET",
    headers: { metadata: "true", accept: "application/json" },
    signal,
    proxy: false,
  });
}
