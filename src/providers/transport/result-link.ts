import { UpstreamError } from "../../domain/upstream-error.ts";
import { decodeBase64, isDataUrl, readDataUrlHeader } from "../../lib/base64.ts";
import { createSafeFetch, SafeFetchError, type SafeFetch } from "../../lib/safe-fetch.ts";
import type { Spool, SpoolFile } from "../../lib/spool.ts";
import { brokenResponse, readPieces } from "./http.ts";
import { fetchGuarded } from "./network.ts";

/**
 * Fetches the picture of a result link into `spool`, without credentials, with a size limit and one retry. Throws the
 * signal's reason, or a `broken` error with `isAmbiguous`, because the vendor has made the picture.
 */
export type FetchResult = (link: string, spool: Spool, signal: AbortSignal) => Promise<Blob>;

/** Returns the function that fetches results, from public https addresses or the channel's own origin. */
export function createFetchResult(
  baseUrl: string,
  safeFetch: Downloads = createSafeFetch({ limits: LIMITS }),
): FetchResult {
  const own = new URL(baseUrl).origin;
  const download = async (link: string, spool: Spool, signal: AbortSignal): Promise<Blob> => {
    const url = URL.parse(link);
    const isOwn = url?.origin === own && url.username === "" && url.password === "";
    const file = spool.create();
    if (isOwn) await downloadFromVendor(url.href, file, signal);
    else await downloadGuarded(safeFetch, link, file, signal);
    if (file.byteLength === 0) throw brokenResponse("gave a link to nothing");
    return await file.finish();
  };
  return async (link, spool, signal) => {
    // The link may be a `data:` URL with a small result (Replicate HTTP reference, output files).
    if (isDataUrl(link)) return decodeInline(link);
    try {
      return await download(link, spool, signal).catch((error: unknown) => {
        if (signal.aborted || isLasting(error)) throw error;
        return download(link, spool, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof SafeFetchError ? failed(error) : error;
    }
  };
}

function decodeInline(link: string): Blob {
  const header = readDataUrlHeader(link);
  const bytes = header && decodeBase64(link.slice(header.length));
  if (!bytes || bytes.byteLength === 0) throw brokenResponse("gave a data URL without a picture");
  return new Blob([new Uint8Array(bytes)]);
}

/** Fetches several results in parallel, at most `MAX_RESULTS`, and returns them in order. Throws like `fulfilledOf`. */
export async function fetchEach(
  links: readonly string[],
  fetchResult: FetchResult,
  spool: Spool,
  signal: AbortSignal,
): Promise<Blob[]> {
  return await fulfilledOf(links.slice(0, MAX_RESULTS).map((link) => fetchResult(link, spool, signal)));
}

/** Returns the pictures that succeeded, in order. Throws the first error when none succeeded. */
export async function fulfilledOf(reads: readonly Promise<Blob>[]): Promise<Blob[]> {
  const outcomes = await Promise.allSettled(reads);
  const pictures = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (pictures.length === 0 && failure) throw failure.reason;
  return pictures;
}

/** Limits of downloads. A long wait is justified, because the vendor has charged for the few pictures of a call. */
const LIMITS = { concurrencyPerTenant: 64, totalTimeoutMs: 60_000 };

/** Maximum number of results of one call. No vendor makes so many. */
export const MAX_RESULTS = 10;

/** Maximum bytes of one picture: about the uncompressed size of the largest picture that can be ordered. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

async function downloadGuarded(
  safeFetch: Downloads,
  link: string,
  file: SpoolFile,
  signal: AbortSignal,
): Promise<void> {
  const sink = (bytes: Uint8Array) => {
    file.write(bytes);
    return file.ready();
  };
  await safeFetch.download(link, sink, { signal, tenant: "", maxBytes: MAX_RESULT_BYTES });
}

async function downloadFromVendor(link: string, file: SpoolFile, signal: AbortSignal): Promise<void> {
  const headers = {
    accept: "image/*",
    "accept-encoding": "identity",
    "user-agent": "model-inference-gateway",
  };
  const response = await fetchGuarded(link, { headers, redirect: "manual", signal, timeout: false }).catch(
    (cause: unknown) => {
      throw new SafeFetchError("failed", "no response", cause);
    },
  );
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => {});
    throw new SafeFetchError("failed", `status ${response.status}`);
  }
  if (Number(response.headers.get("content-length") ?? 0) > MAX_RESULT_BYTES) {
    await response.body?.cancel().catch(() => {});
    throw new SafeFetchError("too_large", "content length");
  }
  for await (const piece of readPieces(response, MAX_RESULT_BYTES, signal)) {
    file.write(piece);
    await file.ready();
  }
}

/** True when a retry would fail in the same way. Also true for a bug, which is not retried. */
function isLasting(error: unknown): boolean {
  return error instanceof SafeFetchError ? error.reason !== "failed" : !(error instanceof UpstreamError);
}

/** Returns the error for a failed download. It omits the link, because anybody with the link can read the picture. */
function failed(error: SafeFetchError): UpstreamError {
  return brokenResponse(`gave a link that could not be fetched (${error.reason}: ${error.detail})`, error);
}

type Downloads = Pick<SafeFetch, "download">;
