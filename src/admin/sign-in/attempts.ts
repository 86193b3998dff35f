import { operatorMessage } from "../../domain/operator-message.ts";
import { networkOf } from "../../lib/cidr.ts";
import { hashSecret } from "../../lib/secret.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";

const WINDOW_MS = 15 * 60_000;
const MAX_OF_ACCOUNT = 10;
const MAX_OF_ADDRESS = 30;
/** Maximum number of attempts from an IPv6 site (48 bits), which contains 65,536 networks of 64 bits. */
const MAX_OF_SITE = 100;

/** A sign-in attempt that has been counted. */
interface Attempt {
  /** Takes back the count, for an attempt with the right password or code. */
  forgive(): Promise<void>;
  /** Takes back the count of the network and removes the count of the account, after a successful sign-in. */
  succeed(): Promise<void>;
}

/** Account, address and browser of an attempt. */
interface Trying {
  name: string;
  address: string;
  /** Id of the known session or browser, which has a count of its own; null for an unknown browser. */
  known: string | null;
}

/**
 * Counts a sign-in attempt before the password or code is checked, so that simultaneous attempts are all counted.
 * Throws 429 after too many attempts in a quarter of an hour for the account (even if it does not exist) or from one
 * network. Known sessions and browsers have counts of their own, which strangers cannot use up.
 */
export async function countAttempt(
  { store, clock }: Pick<AdminContext, "store" | "clock">,
  trying: Trying,
): Promise<Attempt> {
  const attempts = store.signInAttempts;
  const { origins, account } = subjectsOf(trying);
  const bounds = [...origins, [account, MAX_OF_ACCOUNT]] as const;
  for (const [subject, max] of bounds) {
    const now = clock.now();
    const { count, endsAt } = await attempts.count(subject, now, WINDOW_MS);
    if (count <= max) continue;
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
    throw new AdminError(429, null, operatorMessage("error.attempts", { count: retryAfterSeconds }), {
      retryAfterSeconds,
    });
  }
  const forgiveOrigins = async () => {
    for (const [subject] of origins) await attempts.forgive(subject);
  };
  return {
    async forgive() {
      await forgiveOrigins();
      await attempts.forgive(account);
    },
    async succeed() {
      await forgiveOrigins();
      await attempts.reset(account);
    },
  };
}

type Bound = readonly [subject: string, max: number];

function subjectsOf({ name, address, known }: Trying): { origins: Bound[]; account: string } {
  if (known !== null) return { origins: [], account: `known ${hashSecret(known)}` };
  const network = networkOf(address);
  const site = networkOf(address, 48);
  const origins: Bound[] = [[`address ${network}`, MAX_OF_ADDRESS]];
  if (site !== network) origins.push([`address ${site}`, MAX_OF_SITE]);
  // The name is hashed, because people sometimes type their password as the name.
  return { origins, account: `account ${hashSecret(name.toLowerCase())}` };
}
