import type { AddressList } from "../cidr.ts";
import { isPublicAddress } from "./address.ts";
import type { Dial, DialTarget } from "./dial.ts";
import { SafeFetchError } from "./error.ts";
import type { Link } from "./link.ts";
import type { Resolve } from "./resolve.ts";

const MAX_ADDRESSES_TRIED = 4;

export interface ConnectOptions {
  resolve: Resolve;
  dial: Dial;
  /** Addresses refused besides those that are not public, such as our own. */
  denied: AddressList;
  connectTimeoutMs: number;
}

/** Sends one request to a checked address of the link's host, the next one when a connection cannot be had. */
export async function connect(
  link: Link,
  request: Pick<DialTarget, "method" | "headers" | "body">,
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

/** All addresses of the host. One that is not public spoils the rest: an honest name has none. */
async function findAddresses(link: Link, options: ConnectOptions, signal: AbortSignal): Promise<string[]> {
  const addresses = link.isAddress ? [link.host] : await resolve(link, options, signal);
  if (addresses.length === 0) throw new SafeFetchError("failed", "no address");
  if (!addresses.every((address) => isPublicAddress(address) && !options.denied.has(address)))
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

/** One attempt, which ends itself unless it is connected in time. */
class Attempt {
  isConnected = false;
  private readonly controller = new AbortController();
  private readonly timer: Timer;

  constructor({ connectTimeoutMs }: ConnectOptions) {
    const fail = (): void => this.controller.abort(new SafeFetchError("failed", "timeout"));
    this.timer = setTimeout(fail, connectTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  connected(): void {
    this.isConnected = true;
    this.end();
  }

  end(): void {
    clearTimeout(this.timer);
  }
}
