import { parseAddressList, type AddressList } from "./cidr.ts";
import { NetworkGuard } from "./network-guard.ts";
import { FairSemaphore } from "./semaphore.ts";
import { isPublicAddress } from "./safe-fetch/address.ts";
import { connect, type ConnectOptions } from "./safe-fetch/connect.ts";
import { createDial, type Dial } from "./safe-fetch/dial.ts";
import { SafeFetchError } from "./safe-fetch/error.ts";
import { readAddress, readLink, type Link } from "./safe-fetch/link.ts";
import { resolveName, type Resolve } from "./safe-fetch/resolve.ts";
import { after, withDeadline } from "./waiting.ts";

export { SafeFetchError, type SafeFetchFault } from "./safe-fetch/error.ts";
export { MAX_LINK_CHARACTERS, readAddress, readLink } from "./safe-fetch/link.ts";

// Plain `fetch` is not used, because it resolves the name again after any check (DNS rebinding). Packages that pin the
// address need Node's sockets. This code connects to the address that it has checked.

/**
 * Downloads from addresses that a caller chose and posts to them: on the public internet, and in the networks that the
 * options of a post add. Every resolved address is checked before a connection is made. Each redirect is checked like a
 * new link.
 */
export interface SafeFetch {
  /**
   * Passes the content of a link to `sink` piece by piece. A piece is valid until the sink's promise settles. Returns
   * the number of bytes. Throws a `SafeFetchError`, the error that the sink throws, or the signal's reason.
   */
  download(link: string, sink: Sink, options: DownloadOptions): Promise<number>;
  /**
   * Posts text to a link. Returns the status and the header `retry-after`. Does not follow redirects and does not read
   * the body. Throws a `SafeFetchError`.
   */
  post(link: string, options: PostOptions): Promise<{ status: number; retryAfter: string | null }>;
}

interface PostOptions {
  /** Networks that may be called in addition to the public internet. */
  networks?: readonly string[];
  body: string;
  headers: Readonly<Record<string, string>>;
  /** The tenant that posts. Tenants take turns to get a slot. */
  tenant: string;
}

type Sink = (bytes: Uint8Array) => void | Promise<void>;

interface DownloadOptions {
  signal: AbortSignal;
  /** The tenant that downloads. Tenants take turns to get a slot. */
  tenant: string;
  /** Maximum bytes of the content; 36,700,160 when absent. */
  maxBytes?: number;
}

export interface SafeFetchOptions {
  resolve?: Resolve;
  dial?: Dial;
  /** PEM of the certificate authority to trust in place of the system's own. */
  certificateAuthority?: string;
  /** Public addresses to refuse, such as the operator's own networks. */
  denied?: AddressList;
  limits?: Partial<SafeFetchLimits>;
}

export interface SafeFetchLimits {
  /** Maximum number of downloads at the same time. Further downloads wait for a slot, at most `totalTimeoutMs`. */
  concurrency: number;
  concurrencyPerTenant: number;
  connectTimeoutMs: number;
  /** Milliseconds from getting a slot to the last byte. */
  totalTimeoutMs: number;
  /** Age after which a body must have an average speed of at least `minBytesPerSecond`. */
  slowStartMs: number;
  minBytesPerSecond: number;
  redirects: number;
}

const LIMITS: SafeFetchLimits = {
  concurrency: 64,
  concurrencyPerTenant: 16,
  connectTimeoutMs: 3_000,
  totalTimeoutMs: 20_000,
  slowStartMs: 5_000,
  minBytesPerSecond: 32 * 1024,
  redirects: 3,
};
const MAX_BYTES = 36_700_160;
/** Maximum number of posts at the same time in this process. `POSTS_PER_TENANT` is the maximum of one tenant. */
const POSTS = 32;
const POSTS_PER_TENANT = 4;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const USER_AGENT = "model-inference-gateway";
const HEADERS = { accept: "image/*", "accept-encoding": "identity", "user-agent": USER_AGENT };

export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const limits = { ...LIMITS, ...options.limits };
  const slots = new FairSemaphore(limits.concurrency, limits.concurrencyPerTenant);
  const postSlots = new FairSemaphore(POSTS, POSTS_PER_TENANT);
  const network = networkOf(options, limits);

  /** Runs a download or a post in a slot. At the end, everything that this work opened is closed. */
  async function run<Result>(
    semaphore: FairSemaphore,
    outer: AbortSignal,
    tenant: string,
    download: (signal: AbortSignal) => Promise<Result>,
  ) {
    using _slot = await within(outer, (signal) => semaphore.acquire(tenant, signal));
    return await within(outer, download);
  }

  /** Runs one step. Its signal aborts after the total time, with the outer signal, and when the step ends. */
  async function within<Result>(outer: AbortSignal, step: (signal: AbortSignal) => Promise<Result>) {
    const end = new AbortController();
    const expire = (): void => end.abort(new SafeFetchError("failed", "timeout"));
    const stopTimer = after(limits.totalTimeoutMs, expire);
    const signal = AbortSignal.any([outer, end.signal]);
    try {
      return await step(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      stopTimer();
      end.abort();
    }
  }

  return {
    async download(text, sink, { signal, tenant, maxBytes = MAX_BYTES }) {
      const link = allow(readLink(text));
      return await run(slots, signal, tenant, async (signal) => {
        const response = await follow(link, network, limits.redirects, signal);
        refuseResponse(response, maxBytes);
        return await copyBody(response, sink, { ...limits, maxBytes, signal });
      });
    },
    async post(text, { body, headers, tenant, networks = [] }) {
      const guard = new NetworkGuard(networks);
      const link = allow(networks.length === 0 ? readLink(text) : readAddress(text));
      const all = { ...headers, "user-agent": USER_AGENT };
      const options = { ...network, isAllowed: (address: string) => guard.allows(address) };
      return await run(postSlots, new AbortController().signal, tenant, async (signal) => {
        const response = await connect(link, { headers: all, body }, options, signal);
        await response.body?.cancel();
        return { status: response.status, retryAfter: response.headers.get("retry-after") };
      });
    },
  };
}

function networkOf(
  { resolve = resolveName, dial, certificateAuthority, denied = parseAddressList([]) }: SafeFetchOptions,
  { connectTimeoutMs }: SafeFetchLimits,
): ConnectOptions {
  dial ??= createDial(certificateAuthority);
  return { resolve, dial, isAllowed: isPublicAddress, denied, connectTimeoutMs };
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
    const response = await connect(link, { headers: HEADERS }, network, signal);
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
  options: Pick<SafeFetchLimits, "slowStartMs" | "minBytesPerSecond"> &
    Required<Omit<DownloadOptions, "tenant">>,
): Promise<number> {
  const { maxBytes, signal, slowStartMs, minBytesPerSecond } = options;
  const reader = response.body?.getReader();
  const startedAt = performance.now();
  let received = 0;
  for (;;) {
    // If the next piece has not arrived at this time, the average speed is below the minimum.
    const dueAt = startedAt + Math.max(slowStartMs, (received / minBytesPerSecond) * 1000);
    const bytes = await withDeadline(dueAt - performance.now(), readPiece(reader), tooSlow);
    if (!bytes) return received;
    signal.throwIfAborted();
    received += bytes.byteLength;
    if (received > maxBytes) throw new SafeFetchError("too_large", "body");
    await sink(bytes);
  }
}

function tooSlow(): SafeFetchError {
  return new SafeFetchError("failed", "too slow");
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
