import { withoutEndSlash } from "../transport/channel-settings.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors, type VendorErrors } from "../transport/vendor-errors.ts";
import { readMessagesFailure } from "./errors.ts";

/** The connection that a channel uses for all calls in the messages protocol. */
export interface MessagesConnection {
  /** URL of `/v1/messages` at the vendor. */
  url: string;
  /** True when the vendor also serves `/v1/messages/count_tokens`. */
  countsTokens: boolean;
  /** Headers of a request for a JSON response, with the default version, which a caller's version replaces. */
  jsonHeaders: Readonly<Record<string, string>>;
  /** Headers of a request for server-sent events. */
  streamHeaders: Readonly<Record<string, string>>;
  errors: VendorErrors;
}

/** The address of a vendor of the messages protocol, and the headers with the key. */
interface MessagesAddress {
  /** The part of the address before `/v1/messages`. */
  baseUrl: string;
  apiKey: string;
  /** Headers with the key. */
  credential: Readonly<Record<string, string>>;
  /** The operator's own headers. */
  headers?: Readonly<Record<string, string>>;
  countsTokens: boolean;
}

/** The protocol's version for callers that send no version (Anthropic API, "Versions"). */
const DEFAULT_VERSION = "2023-06-01";

export function createMessagesConnection(address: MessagesAddress): MessagesConnection {
  const { apiKey, credential, headers = {}, countsTokens } = address;
  const baseUrl = withoutEndSlash(address.baseUrl);
  // `JSON_HEADERS` request the identity encoding, because the vendor would delay compressed events.
  const jsonHeaders = {
    ...JSON_HEADERS,
    ...headers,
    ...credential,
    "content-type": "application/json",
    "anthropic-version": DEFAULT_VERSION,
  };
  return {
    url: `${baseUrl}/v1/messages`,
    countsTokens,
    jsonHeaders,
    streamHeaders: { ...jsonHeaders, accept: "text/event-stream" },
    errors: createVendorErrors(
      { secret: apiKey, otherSecrets: Object.values(headers), baseUrl },
      readMessagesFailure,
    ),
  };
}
