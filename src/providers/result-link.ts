import { UpstreamError } from "../domain/upstream-error.ts";
import { createSafeFetch, SafeFetchError, type SafeFetch } from "../lib/safe-fetch.ts";
import { brokenAnswer, readWhole } from "./http.ts";

/**
 * Fetches a picture that a vendor gave as a link: without credentials, bounded in size, tried twice. Throws
 * `broken`, for the picture was made and may have to be paid for; or the signal's reason.
 */
export type FetchResult = (link: string, signal: AbortSignal) => Promise<Blob>;

/**
 * Links lead to public https addresses only, but for those on the very origin of the channel's own base address,
 * which the operator has chosen: they are fetched as they stand.
 */
export function createFetchResult(baseUrl: string, safeFetch: SafeFetch = createSafeFetch()): FetchResult {
  const own = new URL(baseUrl).origin;
  const download = (link: string, signal: AbortSignal): Promise<Blob> => {
    const url = URL.parse(link);
    const isOwn = url?.origin === own && url.username === "" && url.password === "";
    return isOwn ? downloadFromVendor(url.href, signal) : downloadGuarded(safeFetch, link, signal);
  };
  return async (link, signal) => {
    try {
      return await download(link, signal).catch((error: unknown) => {
        if (signal.aborted || isLasting(error)) throw error;
        return download(link, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof SafeFetchError ? failed(error) : error;
    }
  };
}

/**
 * Fetches several at once, in their order. A link that fails costs its own picture only; throws its error when none
 * is left. Links beyond what a vendor makes in one call are passed over.
 */
export async function fetchEach(
  links: readonly string[],
  fetchResult: FetchResult,
  signal: AbortSignal,
): Promise<Blob[]> {
  const fetches = links.slice(0, MOST_RESULTS).map((link) => fetchResult(link, signal));
  const outcomes = await Promise.allSettled(fetches);
  const pictures = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (pictures.length === 0 && failure) throw failure.reason;
  return pictures;
}

const MOST_RESULTS = 10;

/** Most bytes of one picture; the largest that is sold, uncompressed, has about as many. */
export const MOST_RESULT_BYTES = 64 * 1024 * 1024;

async function downloadGuarded(safeFetch: SafeFetch, link: string, signal: AbortSignal): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const sink = (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes));
  const length = await safeFetch.download(link, sink, { signal, maxBytes: MOST_RESULT_BYTES });
  if (length === 0) throw brokenAnswer("gave a link to nothing");
  return new Blob(pieces);
}

async function downloadFromVendor(link: string, signal: AbortSignal): Promise<Blob> {
  const headers = {
    accept: "image/*",
    "accept-encoding": "identity",
    "user-agent": "model-inference-gateway",
  };
  const response = await fetch(link, { headers, redirect: "manual", signal, timeout: false }).catch(
    (cause: unknown) => {
      throw new SafeFetchError("failed", "no answer", cause);
    },
  );
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => {});
    throw new SafeFetchError("failed", `status ${response.status}`);
  }
  if (Number(response.headers.get("content-length") ?? 0) > MOST_RESULT_BYTES) {
    await response.body?.cancel().catch(() => {});
    throw new SafeFetchError("too_large", "content length");
  }
  return new Blob([await readWhole(response, MOST_RESULT_BYTES, signal)]);
}

/** Whether asking again would end in the same way; a bug is not asked again either. */
function isLasting(error: unknown): boolean {
  return error instanceof SafeFetchError ? error.reason !== "failed" : !(error instanceof UpstreamError);
}

/** The link itself may open the picture to whoever reads the log, so it is not told. */
function failed(error: SafeFetchError): UpstreamError {
  return brokenAnswer(`gave a link that could not be fetched (${error.reason}: ${error.detail})`, error);
}
