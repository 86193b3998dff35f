import { GatewayError } from "../domain/gateway-error.ts";
import { readLink } from "../lib/safe-fetch/link.ts";

/**
 * True when a media address is a link that a vendor would fetch; false for a `data:` URL. Throws
 * `image_url_not_allowed` for other addresses, and for a link that is not public, because a vendor inside a private
 * network would fetch it.
 */
export function requireLink(value: string, param: string): boolean {
  if (value.startsWith("data:")) return false;
  if (readLink(value)) return true;
  const message = `\`${param}\` must be a \`data:\` URL or an \`https:\` link to a public host, without credentials.`;
  throw new GatewayError("image_url_not_allowed", message, { param });
}
