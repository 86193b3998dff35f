import { networkOf } from "../lib/cidr.ts";
import { hashSecret } from "../lib/secret.ts";
import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";

const WINDOW_MS = 15 * 60_000;
const MAX_OF_ACCOUNT = 10;
const MAX_OF_ADDRESS = 30;

/** A sign-in that has been counted. */
interface Attempt {
  /** It was none after all: the password was right. */
  forgive(): Promise<void>;
  /** The account has been proven: what was counted for it no longer matters. */
  succeed(): Promise<void>;
}

/**
 * Counts a sign-in, before anything is checked, so that many at once are all counted. Throws 429 when the account, real
 * or not, or the address has had its share in a quarter of an hour.
 */
export async function countAttempt(
  { store, clock }: Pick<AdminContext, "store" | "clock">,
  { name, address }: { name: string; address: string },
): Promise<Attempt> {
  const attempts = store.signInAttempts;
  const bounds = [
    [`address ${networkOf(address)}`, MAX_OF_ADDRESS],
    // Hashed: people type passwords for names.
    [`account ${hashSecret(name.toLowerCase())}`, MAX_OF_ACCOUNT],
  ] as const;
  const [ofAddress, ofAccount] = [bounds[0][0], bounds[1][0]];
  for (const [subject, max] of bounds) {
    const now = clock.now();
    const { count, endsAt } = await attempts.count(subject, now, WINDOW_MS);
    if (count <= max) continue;
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
    throw new AdminError(429, null, `too many sign-ins failed; try again in ${retryAfterSeconds} seconds`, {
      retryAfterSeconds,
    });
  }
  return {
    async forgive() {
      await attempts.forgive(ofAddress);
      await attempts.forgive(ofAccount);
    },
    async succeed() {
      await attempts.forgive(ofAddress);
      await attempts.reset(ofAccount);
    },
  };
}
