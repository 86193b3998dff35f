import { isObject, textOf } from "../../lib/json.ts";

/** A token of a reply's text with its log probability. Chat and responses both use this form. */
export interface TokenLogprob extends Alternative {
  top_logprobs: readonly Alternative[];
}

interface Alternative {
  token: string;
  logprob: number;
  /** Bytes of the token; null when the vendor sends no bytes. */
  bytes: readonly unknown[] | null;
}

/** Reads a vendor's list of tokens. Returns an empty list for a value that is not a list. */
export function readLogprobs(value: unknown): TokenLogprob[] {
  return objectsOf(value).map((token) => {
    const alternatives = objectsOf(token["top_logprobs"]).map(readAlternative);
    return Object.assign(readAlternative(token), { top_logprobs: alternatives });
  });
}

function readAlternative({ token, logprob, bytes }: Readonly<Record<string, unknown>>): Alternative {
  return {
    token: textOf(token),
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes : null,
  };
}

function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
