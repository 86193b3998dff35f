import { hashSecret, randomText } from "../lib/secret.ts";
import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import type { SessionRecord } from "./member-ports.ts";
import { FULL_ACCESS, type Access } from "./roles.ts";

/** Where a request comes from, for the list of sessions and the audit. */
export interface Origin {
  address: string;
  agent: string;
}

/** Someone who is signed in. */
export interface SignedIn {
  id: string;
  name: string;
  access: Access;
  /** Of the session. */
  hash: string;
}

const TOKEN_LENGTH = 43;
const IDLE_MS = 30 * 60_000;
const MAX_SESSION_MS = 12 * 60 * 60_000;
const TOUCH_MS = 60_000;

/** Checks a name and a password and opens a session. Throws 401 without saying which of them was wrong. */
export async function signIn(
  { store, clock }: Pick<AdminContext, "store" | "clock">,
  { name, password }: { name: string; password: string },
  origin: Origin,
): Promise<{ token: string }> {
  const administrator = await store.administrators.get(name);
  // An unknown name takes as long as a wrong password.
  const isRight = administrator
    ? await Bun.password.verify(password, administrator.passwordHash)
    : (await Bun.password.hash(password, "argon2id"), false);
  if (!administrator || !isRight) throw new AdminError(401, null, "the name or the password is wrong");
  const token = randomText(TOKEN_LENGTH);
  const now = clock.now();
  const hash = hashSecret(token);
  await store.sessions.create({
    hash,
    administratorId: administrator.id,
    createdAt: now,
    seenAt: now,
    ...origin,
  });
  return { token };
}

/** Who a token belongs to. Throws 401 for an unknown or ended session. */
export async function readSession(
  { store, clock }: Pick<AdminContext, "store" | "clock">,
  token: string,
): Promise<SignedIn> {
  const hash = hashSecret(token);
  const session = await store.sessions.get(hash);
  if (!session || hasEnded(session, clock.now())) throw new AdminError(401, null, "sign in again");
  if (clock.now() - session.seenAt > TOUCH_MS) await store.sessions.touch(hash, clock.now());
  return { id: session.administratorId, name: session.administratorName, access: FULL_ACCESS, hash };
}

function hasEnded({ createdAt, seenAt }: SessionRecord, now: number): boolean {
  return now - seenAt > IDLE_MS || now - createdAt > MAX_SESSION_MS;
}
