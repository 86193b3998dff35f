import { withoutEndSlash } from "./channel-settings.ts";
import { JSON_HEADERS } from "./json-call.ts";
import { createFetchResult, type FetchResult } from "./result-link.ts";

/** What is the same for each call of a channel. */
export interface Connection {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  /** Those of a call in JSON, the credential among them. */
  headers: Readonly<Record<string, string>>;
  fetchResult: FetchResult;
}

/** Prepares the calls to a vendor of JSON. `credential` is the header that carries the key. */
export function connect(
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
  credential: Readonly<Record<string, string>> = { authorization: `Bearer ${apiKey}` },
): Connection {
  const base = withoutEndSlash(baseUrl);
  return {
    baseUrl: base,
    apiKey,
    headers: { ...JSON_HEADERS, ...credential },
    fetchResult: createFetchResult(base),
  };
}
