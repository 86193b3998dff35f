import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { randomText } from "../../lib/secret.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { openSession } from "./sessions.ts";
import { countAttempt } from "./attempts.ts";
import { requireSession } from "./signed-in.ts";
import { passwordChangeSchema } from "../members/schema.ts";

const GENERATED_LENGTH = 20;
/** Parameters that OWASP recommends for Argon2id. */
const MEMORY_KIB = 19_456;
const PASSES = 2;

export function generatePassword(): string {
  return randomText(GENERATED_LENGTH);
}

export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: MEMORY_KIB, timeCost: PASSES });
}

/** A hash that no password matches. It makes a check for a member without a password as slow as a real check. */
const NO_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** Checks a password. For a missing hash, returns false after the same time. */
export async function isPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const isRight = await Bun.password.verify(password, hash ?? NO_HASH);
  return isRight && hash !== null && hash !== undefined;
}

/**
 * Changes the password of the signed-in member. All sessions of the member end; the browser that made the change gets a
 * new session. Throws 403 for a wrong current password and 429 for too many attempts.
 */
export async function changePassword(
  context: AdminContext,
  input: z.output<typeof passwordChangeSchema>,
): Promise<void> {
  const { current, next } = input;
  const { member, session } = requireSession(context);
  const attempt = await countAttempt(context, {
    name: member.name,
    address: session.origin.address,
    known: session.id,
  });
  if (!(await isPassword(current, member.passwordHash)))
    throw new AdminError(403, "current", operatorMessage("error.password.wrong", {}));
  await attempt.forgive();
  if (next === current) throw new AdminError(400, "next", operatorMessage("error.password.same", {}));
  const passwordHash = await hashPassword(next);
  const changed = await context.store.members.update(
    member.id,
    (before) => {
      if (before.passwordHash !== member.passwordHash)
        throw new AdminError(409, null, operatorMessage("error.password.changed", {}));
      return { passwordHash, mustChangePassword: false };
    },
    { by: context.by, action: "change password" },
  );
  if (changed) session.setToken(await openSession(context, changed, session.origin));
}
