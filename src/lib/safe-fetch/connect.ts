import type { AddressList } from "../cidr.ts";
import type { Dial } from "./dial.ts";
import { SafeFetchError } from "./error.ts";
import type { Link } from "./link.ts";
import type { Resolve } from "./resolve.ts";
import { after } from "../waiting.ts";

const MAX_ADDRESSES_TRIED = 4;

export interface ConnectOptions {
  resolve: Resolve;
  dial: Dial;
  /** Returns true for an address that may be called. */
  isAllowed(address: string): boolean;
  /** Addresses to refuse even if `isAllowed` returns true, such as the operator's own networks. */
  denied: AddressList;
  connectTimeoutMs: number;
}

/** The request: a GET, or a POST when it has a body. */
interface SentRequest {
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** Sends a request to a checked address of the link's host. When the connection fails, tries the next address. */
export async function connect(
  link: Link,
  request: SentRequest,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Response> {
  const addresses = await findAddresses(link, options, signal);
  let failure: unknown;
  for (const address of addresses.slice(0, MAX_ADDRESSES_TRIED)) {
    signal.throwIfAborted();
    const attempt = new Attempt(options);
    try {
      const target = { ...request, link, address, onConnect: () => attempt.connected() };
      return await options.dial(target, AbortSignal.any([signal, attempt.signal]));
    } catch (error) {
      failure = error;
      if (attempt.isConnected) break;
    } finally {
      attempt.end();
    }
  }
  signal.throwIfAborted();
  throw new SafeFetchError("failed", "no answer", failure);
}

/**
 * Returns all addresses of the host. Refuses a host with an address that is not allowed, because an honest host has no
 * such address.
 */
async function findAddresses(link: Link, options: ConnectOptions, signal: AbortSignal): Promise<string[]> {
  const addresses = link.isAddress ? [link.host] : await resolve(link, options, signal);
  if (addresses.length === 0) throw new SafeFetchError("failed", "no address");
  if (!addresses.every((address) => options.isAllowed(address) && !options.denied.has(address)))
    throw new SafeFetchError("not_allowed", "address");
  return addresses;
}

async function resolve(link: Link, options: ConnectOptions, signal: AbortSignal): Promise<string[]> {
  try {
    return await options.resolve(link.host, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new SafeFetchError("failed", "name", cause);
  }
}

/** One attempt to connect. It aborts after the connect timeout. */
class Attempt {
  isConnected = false;
  readonly #controller = new AbortController();
  readonly #stopTimer: () => void;

  constructor({ connectTimeoutMs }: ConnectOptions) {
    const fail = (): void => this.#controller.abort(new SafeFetchError("failed", "timeout"));
    this.#stopTimer = after(connectTimeoutMs, fail);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  connected(): void {
    this.isConnected = true;
    this.end();
  }

  end(): void {
    this.#stopTimer();
  }
}
