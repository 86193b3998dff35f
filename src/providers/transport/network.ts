import { AsyncLocalStorage } from "node:async_hooks";
import { dialledAt } from "../../lib/safe-fetch/dial.ts";
import { AddressRefused, type NetworkGuard } from "../../lib/network-guard.ts";

// The guard applies to everything that a channel does: calls, polls, token requests and downloads of results. It is in
// the asynchronous context, so that no adapter can forget to pass it on.
const running = new AsyncLocalStorage<NetworkGuard>();
let isProxied = false;

/** Notes that the runtime's client sends calls through the proxy of the environment variables. */
export function useProxies(): void {
  isProxied = true;
}

/** Returns the guard of the channel that makes the current call; undefined when the channel may call any address. */
export function presentGuard(): NetworkGuard | undefined {
  return running.getStore();
}

/** Wraps an upstream, or a part of one, so that its functions connect only to addresses that the guard allows. */
export function guarded<Part>(part: Part, guard: NetworkGuard): Part {
  if (Array.isArray(part)) return part.map((each: unknown) => guarded(each, guard)) as Part;
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "function"
      ? (...given: unknown[]) => running.run(guard, () => value.apply(part, given))
      : value,
  ]);
  return Object.fromEntries(entries) as Part;
}

/** Calls the runtime's `fetch`. Throws `AddressRefused` for an address that the channel's guard does not allow. */
export async function fetchGuarded(link: string, init: BunFetchRequestInit): Promise<Response> {
  const guard = running.getStore();
  if (!guard) return await fetch(link, init);
  const url = new URL(link);
  if (isProxied && init.proxy === undefined) {
    // A name that this machine cannot resolve does not matter, because the proxy resolves the name.
    await guard.addressesOf(url.hostname).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw error;
    });
    return await fetch(link, init);
  }
  const [address = ""] = await guard.addressesOf(url.hostname);
  const dialled = dialledAt(url, address);
  const headers = new Headers(init.headers);
  headers.set("host", dialled.host);
  return await fetch(dialled.url, { ...init, headers, tls: dialled.tls });
}
