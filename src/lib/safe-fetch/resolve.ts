import { Resolver } from "node:dns/promises";
import { after } from "../waiting.ts";

const TRY_MS = 1000;
const TRIES = 2;
const TOTAL_MS = 2000;

/** Returns all addresses of a name. The list is empty when none is found. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/**
 * Queries the name servers directly, without hosts file and search domains. The system's resolver is not used: it has
 * few threads, and slow names would occupy them.
 */
export const resolveName: Resolve = async (name, signal) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  const cancel = () => resolver.cancel();
  const stopTimer = after(TOTAL_MS, cancel);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  } finally {
    stopTimer();
    signal.removeEventListener("abort", cancel);
  }
};
