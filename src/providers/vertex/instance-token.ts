import type { GrantedToken } from "../transport/access-tokens.ts";
import { withoutEndSlash } from "../transport/channel-settings.ts";
import { requestToken } from "../transport/token-request.ts";

/**
 * A token for the account of this machine (Compute Engine metadata server). It bypasses proxies, which would get the
 * token.
 */
export async function requestInstanceToken(metadataUrl: string, signal: AbortSignal): Promise<GrantedToken> {
  const base = withoutEndSlash(metadataUrl);
  return await requestToken(`${base}/computeMetadata/v1/instance/service-accounts/default/token`, {
    method: "GET",
    headers: { "metadata-flavor": "Google", accept: "application/json" },
    signal,
    proxy: false,
  });
}
