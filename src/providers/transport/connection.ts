import { withoutEndSlash } from "./channel-settings.ts";
import { JSON_HEADERS } from "./json-call.ts";
import { createFetchResult, type FetchResult } from "./result-link.ts";
import { createVendorErrors, type ReadFailure, type VendorErrors } from "./vendor-errors.ts";

/** What all calls of a channel share. */
export interface Connection {
  /** Without a slash at its end. */
  baseUrl: string;
  /** Headers of a JSON call, including the credential. */
  headers: Readonly<Record<string, string>>;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

/** Prepares the calls to a vendor of JSON. `credential` is the header that carries the key. */
export function createConnection(
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
  readFailure: ReadFailure,
  credential: Readonly<Record<string, string>> = { authorization: `Bearer ${apiKey}` },
): Connection {
  const base = withoutEndSlash(baseUrl);
  return {
    baseUrl: base,
    headers: { ...JSON_HEADERS, ...credential },
    errors: createVendorErrors({ secret: apiKey, baseUrl: base }, readFailure),
    fetchResult: createFetchResult(base),
  };
}
