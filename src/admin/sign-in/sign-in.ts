import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { MemberRecord } from "../members/schema.ts";
import { isPassword } from "./passwords.ts";
import { openSession } from "./sessions.ts";
import { countAttempt } from "./attempts.ts";
import type { Origin } from "./signed-in.ts";
import { acceptCode, codeSchema, isTotpOn, openSecret, WRONG_CODE, type TotpOpener } from "./totp.ts";
import { triedPasswordSchema } from "../members/schema.ts";
import { createHmac, timingSafeEqual } from "node:crypto";
import { randomText } from "../../lib/secret.ts";

export const signInSchema = z.strictObject({
  name: z.string().trim().min(1).max(100),
  password: triedPasswordSchema,
  code: codeSchema.optional().describe("Of the authenticator, or a recovery code; where TOTP is on"),
});

const NOT_OPENED = operatorMessage("error.code.unopened", {});

type SignInContext = Pick<AdminContext, "store" | "clock"> & TotpOpener;

/**
 * Checks name, password and, when TOTP is on, a code, and opens a session. Throws 401 without saying whether the name
 * or the password was wrong. Throws 401 `code_required` when both are right but the code is missing or wrong, and 429
 * for too many attempts. Every sign-in and every 401 is audited, except for a missing code. `browser` is the signed id
 * that an earlier sign-in has stored in the browser; the result contains the next one.
 */
export async function signIn(
  context: SignInContext,
  input: z.output<typeof signInSchema>,
  origin: Origin,
  browser: string | null = null,
): Promise<{ token: string; browser: string; member: MemberRecord }> {
  const { name, password, code } = input;
  const { members } = context.store;
  const source = `http/${origin.address}`;
  const member = await members.find({ name });
  const known = readBrowser(member, browser);
  const attempt = await countAttempt(context, { name, address: origin.address, known });
  const refuse = async (error: AdminError): Promise<never> => {
    const by = { actor: member?.name ?? "unknown", source };
    await members.note(member?.id ?? "unknown", {
      by,
      action: "fail to sign in",
      detail: { reason: error.more.type ?? "credentials" },
    });
    throw error;
  };
  const isRight = await isPassword(password, member?.passwordHash);
  if (!member || !isRight || member.isDisabled)
    return await refuse(new AdminError(401, null, operatorMessage("error.signIn", {})));
  if (isTotpOn(member) && code === undefined) {
    await attempt.forgive();
    throw new AdminError(401, "code", operatorMessage("error.code.needed", {}), { type: "code_required" });
  }
  const now = context.clock.now();
  const opened = isTotpOn(member) ? await openSecret(context, member) : null;
  const accepted = await members
    .update(
      member.id,
      ({ totp, passwordHash, isDisabled }) => {
        if (passwordHash !== member.passwordHash || isDisabled)
          throw new AdminError(401, null, operatorMessage("error.signIn", {}));
        if (!totp?.isConfirmed) return {};
        const after = acceptCode(totp, opened, code ?? "", now);
        if (!after)
          throw new AdminError(401, "code", opened ? WRONG_CODE : NOT_OPENED, { type: "code_required" });
        return { totp: after };
      },
      { by: { actor: member.name, source }, action: "sign in", detail: { way: "password" } },
    )
    .catch((error: unknown) => (error instanceof AdminError ? refuse(error) : Promise.reject(error)));
  if (!accepted) return await refuse(new AdminError(401, null, operatorMessage("error.signIn", {})));
  await attempt.succeed();
  const token = await openSession(context, accepted, origin);
  return { token, browser: markBrowser(accepted), member: accepted };
}

const ID_LENGTH = 22;
const SHAPE = /^([0-9A-Za-z]{22})\.([0-9a-f]{64})$/;

type Signing = Pick<MemberRecord, "id" | "passwordHash">;

/** Returns a signed id for the browser of a member who has signed in. A new password makes the id invalid. */
function markBrowser(member: Signing): string {
  const id = randomText(ID_LENGTH);
  return `${id}.${signature(member, id).toString("hex")}`;
}

/** Returns the id of a browser in which this member has signed in before; null for any other text. */
function readBrowser(member: Signing | null, browser: string | null): string | null {
  const [, id, signed] = SHAPE.exec(browser ?? "") ?? [];
  if (!member?.passwordHash || id === undefined || signed === undefined) return null;
  return timingSafeEqual(signature(member, id), Buffer.from(signed, "hex")) ? id : null;
}

/** Signs with the hash of the password as the key: only the gateway knows this hash, and every process can read it. */
function signature({ id: memberId, passwordHash }: Signing, id: string): Buffer {
  return createHmac("sha256", `known browser ${passwordHash}`).update(`${memberId} ${id}`).digest();
}
