import type { GrantedToken } from "./access-tokens.ts";
import { askForToken } from "./token-request.ts";

/**
 * A token for the account of the machine this runs on (Compute Engine metadata server). No proxy may stand between:
 * it would get the token.
 */
export async function requestInstanceToken(metadataUrl: string, signal: AbortSignal): Promise<GrantedToken> {
  const base = metadataUrl.replace(/(?<!\/)\/+$/, "");
  return await askForToken(`${base}/computeMetadata/v1/instance/service-accounts/default/token`, {
    method: "GET",
    headers: { "metadata-flavor": "Google", accept: "application/json" },
    signal,
    proxy: false,
  });
}
