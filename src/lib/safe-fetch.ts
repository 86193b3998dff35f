import { parseAddressList, type AddressList } from "./cidr.ts";
import { createSemaphore } from "./semaphore.ts";
import { connect, type ConnectOptions } from "./safe-fetch/connect.ts";
import { createDial, type Dial } from "./safe-fetch/dial.ts";
import { SafeFetchError } from "./safe-fetch/error.ts";
import { readLink, type Link } from "./safe-fetch/link.ts";
import { resolveName, type Resolve } from "./safe-fetch/resolve.ts";

export { SafeFetchError, type SafeFetchFault } from "./safe-fetch/error.ts";

/**
 * Requests to addresses that somebody else chose. They go to the public internet only: every answer of the name
 * servers is checked, the checked address is the one dialled, and each redirect starts over.
 */
export interface SafeFetch {
  /**
   * Hands the bytes behind a link to `sink` piece by piece; a piece is good until the sink's promise settles.
   * Throws a `SafeFetchError`, what the sink throws, or the signal's reason. Answers the number of bytes.
   */
  download(link: string, sink: Sink, options: DownloadOptions): Promise<number>;
  /** Posts once, without following redirects, and answers the status. Throws like `download`. */
  post(link: string, request: PostRequest): Promise<number>;
}

export type Sink = (bytes: Uint8Array) => void | Promise<void>;

export interface DownloadOptions {
  signal: AbortSignal;
  /** 36,700,160 when left out. */
  maxBytes?: number;
}

export interface PostRequest {
  headers: Readonly<Record<string, string>>;
  body: Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
}

export interface SafeFetchOptions {
  resolve?: Resolve;
  dial?: Dial;
  /** PEM of a certificate authority to trust instead of the system's own. */
  certificateAuthority?: string;
  /** Addresses refused besides those that are not public, such as our own. */
  denied?: AddressList;
  limits?: Partial<SafeFetchLimits>;
}

export interface SafeFetchLimits {
  /** Requests of this process at once; the rest waits within its total time. */
  concurrency: number;
  connectTimeoutMs: number;
  /** From the wait for a place to the last byte. */
  totalTimeoutMs: number;
  /** Redirects followed. */
  redirects: number;
}

const LIMITS: SafeFetchLimits = {
  concurrency: 64,
  connectTimeoutMs: 3_000,
  totalTimeoutMs: 60_000,
  redirects: 3,
};
const MAX_BYTES = 36_700_160;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const USER_AGENT = "model-inference-gateway";
const GET = {
  method: "GET",
  headers: { accept: "image/*", "accept-encoding": "identity", "user-agent": USER_AGENT },
  body: undefined,
} as const;

export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const limits = { ...LIMITS, ...options.limits };
  const slots = createSemaphore(limits.concurrency);
  const network: ConnectOptions = {
    resolve: options.resolve ?? resolveName,
    dial: options.dial ?? createDial(options.certificateAuthority),
    denied: options.denied ?? parseAddressList([]),
    connectTimeoutMs: limits.connectTimeoutMs,
  };

  /** Gives the work a place and a deadline; whatever it opened is closed when it ends. */
  async function run<Result>(outer: AbortSignal, work: (call: AbortController) => Promise<Result>) {
    const call = new AbortController();
    const timer = setTimeout(
      () => call.abort(new SafeFetchError("failed", "timeout")),
      limits.totalTimeoutMs,
    );
    const leave = () => call.abort(outer.reason);
    outer.addEventListener("abort", leave, { once: true });
    try {
      outer.throwIfAborted();
      using _slot = await slots.acquire(call.signal);
      return await work(call);
    } catch (error) {
      call.signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      outer.removeEventListener("abort", leave);
      call.abort();
    }
  }

  return {
    async download(text, sink, { signal, maxBytes = MAX_BYTES }) {
      const link = allow(readLink(text));
      return await run(signal, async (call) => {
        const response = await follow(link, network, limits.redirects, call.signal);
        refuseResponse(response, maxBytes);
        return await copyBody(response, sink, maxBytes, call.signal);
      });
    },
    async post(text, { headers, body, signal }) {
      const link = allow(readLink(text));
      const sent = { method: "POST", headers: { ...headers, "user-agent": USER_AGENT }, body } as const;
      return await run(signal, async (call) => (await connect(link, sent, network, call.signal)).status);
    },
  };
}

function allow(link: Link | null): Link {
  if (!link) throw new SafeFetchError("not_allowed", "link");
  return link;
}

async function follow(
  first: Link,
  network: ConnectOptions,
  redirects: number,
  signal: AbortSignal,
): Promise<Response> {
  let link = first;
  for (let followed = 0; followed <= redirects; followed += 1) {
    const response = await connect(link, GET, network, signal);
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    link = allow(readLink(location, link.url));
  }
  throw new SafeFetchError("failed", "too many redirects");
}

function refuseResponse(response: Response, maxBytes: number): void {
  if (response.status !== 200) throw new SafeFetchError("failed", `status ${response.status}`);
  const encoding = response.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw new SafeFetchError("failed", "content encoding");
  if (Number(response.headers.get("content-length") ?? 0) > maxBytes)
    throw new SafeFetchError("too_large", "content length");
}

async function copyBody(
  response: Response,
  sink: Sink,
  maxBytes: number,
  signal: AbortSignal,
): Promise<number> {
  const reader = response.body?.getReader();
  let received = 0;
  for (let bytes = await readPiece(reader); bytes; bytes = await readPiece(reader)) {
    signal.throwIfAborted();
    received += bytes.byteLength;
    if (received > maxBytes) throw new SafeFetchError("too_large", "body");
    await sink(bytes);
  }
  return received;
}

async function readPiece(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read"> | undefined,
): Promise<Uint8Array | undefined> {
  try {
    return (await reader?.read())?.value;
  } catch (cause) {
    throw new SafeFetchError("failed", "broken off", cause);
  }
}
