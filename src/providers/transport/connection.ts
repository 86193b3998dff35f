import { withoutEndSlash } from "./channel-settings.ts";
import { JSON_HEADERS } from "./json-call.ts";
import { createFetchResult, type FetchResult } from "./result-link.ts";
import { createVendorErrors, type ReadFailure, type VendorErrors } from "./vendor-errors.ts";

/** The connection that all calls of a channel share. */
export interface VendorConnection {
  /** The address, without a slash at its end. */
  baseUrl: string;
  /** Headers of a JSON call, including the credential. */
  headers: Readonly<Record<string, string>>;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

interface ConnectionSettings {
  baseUrl: string;
  apiKey: string;
  /** The operator's own headers. */
  headers?: Readonly<Record<string, string>>;
}

/** Returns the connection to a vendor with a JSON interface. `credential` is the header with the key. */
export function createConnection(
  { baseUrl, apiKey, headers = {} }: ConnectionSettings,
  readFailure: ReadFailure,
  credential: Readonly<Record<string, string>> = { authorization: `Bearer ${apiKey}` },
): VendorConnection {
  const base = withoutEndSlash(baseUrl);
  return {
    baseUrl: base,
    headers: { ...JSON_HEADERS, ...headers, ...credential },
    errors: createVendorErrors(
      { secret: apiKey, otherSecrets: Object.values(headers), baseUrl: base },
      readFailure,
    ),
    fetchResult: createFetchResult(base),
  };
}
