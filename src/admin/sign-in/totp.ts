import { operatorMessage } from "../../domain/operator-message.ts";
import { Secret, TOTP } from "otpauth";
import { z } from "zod";
import { hashSecret, randomText } from "../../lib/secret.ts";
import { AdminError } from "../admin-error.ts";
import type { OperationContext } from "../context.ts";
import type { Configuration, SecretName } from "../configuration/store-port.ts";
import type { MemberRecord, TotpRecord } from "../members/schema.ts";
import { countAttempt } from "./attempts.ts";
import { requireSession } from "./signed-in.ts";

const ISSUER = "Model gateway";
const STEP_SECONDS = 30;
/** Number of time steps by which a member's clock may differ. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
const RECOVERY_LENGTH = 16;

/** Schema of a code (six digits, or a recovery code). It checks only the length. */
export const codeSchema = z.string().trim().min(6).max(40);

export const codeInputSchema = z.strictObject({ code: codeSchema });

/** Makes a secret for TOTP. A first code of this secret turns TOTP on. Throws 409 when TOTP is on already. */
export async function beginTotp(context: OperationContext): Promise<{ secret: string; uri: string }> {
  const { member } = requireSession(context);
  const secret = new Secret({ size: 20 }).base32;
  const sealed = await context.configuration.seal(context.store, secretName(member), secret);
  await context.store.members.update(
    member.id,
    ({ totp }) => {
      if (totp?.isConfirmed) throw new AdminError(409, null, operatorMessage("error.totp.on", {}));
      return { totp: { secret: sealed, isConfirmed: false, lastStep: 0, recoveryHashes: [] } };
    },
    { by: context.by, action: "update" },
  );
  return { secret, uri: totpOf(secret, member.name).toString() };
}

/**
 * Turns TOTP on with a first code, and returns recovery codes, which are shown only once. Throws 400 for a wrong code,
 * and 409 when there is no new secret.
 */
export async function confirmTotp(
  context: OperationContext,
  input: z.output<typeof codeInputSchema>,
): Promise<{ recoveryCodes: string[] }> {
  const { code } = input;
  const { member } = requireSession(context);
  const opened = await openSecret(context, member);
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const recoveryHashes = recoveryCodes.map((each) => hashSecret(plainCode(each)));
  const now = context.clock.now();
  await context.store.members.update(
    member.id,
    ({ totp }) => {
      if (!totp || totp.isConfirmed) throw new AdminError(409, null, operatorMessage("error.totp.begin", {}));
      const lastStep = stepOf(totp, opened, code, now);
      if (lastStep === null) throw new AdminError(400, "code", operatorMessage("error.code.clock", {}));
      return { totp: { ...totp, isConfirmed: true, lastStep, recoveryHashes } };
    },
    { by: context.by, action: "turn on TOTP" },
  );
  return { recoveryCodes };
}

/** Turns TOTP off with a code or a recovery code. Throws 403 for a wrong code and 429 for too many attempts. */
export async function removeTotp(
  context: OperationContext,
  input: z.output<typeof codeInputSchema>,
): Promise<void> {
  const { code } = input;
  const { member, session } = requireSession(context);
  const attempt = await countAttempt(context, {
    name: member.name,
    address: session.origin.address,
    known: session.id,
  });
  const now = context.clock.now();
  const opened = await openSecret(context, member);
  await context.store.members.update(
    member.id,
    ({ totp }) => {
      if (totp?.isConfirmed && !acceptCode(totp, opened, code, now))
        throw new AdminError(403, "code", WRONG_CODE);
      return { totp: null };
    },
    { by: context.by, action: "turn off TOTP" },
  );
  await attempt.forgive();
}

export const WRONG_CODE = operatorMessage("error.code.wrong", {});

/** The part of the configuration that opens sealed secrets. */
export interface TotpOpener {
  configuration: Pick<Configuration, "unseal">;
}

/** The secret of a second factor, with the sealed text from which it was opened. */
interface OpenedTotp {
  sealed: string;
  /** Base32 text. */
  secret: string;
}

/**
 * Returns the secret of a member's second factor; null when the member has none. Also returns null when no master key
 * in this process decrypts the secret; then only recovery codes are accepted.
 */
export async function openSecret(
  { configuration }: TotpOpener,
  member: Pick<MemberRecord, "id" | "totp">,
): Promise<OpenedTotp | null> {
  if (!member.totp) return null;
  const secret = await configuration.unseal(secretName(member), member.totp.secret);
  return secret === null ? null : { sealed: member.totp.secret.sealed, secret };
}

/** Returns the name under which the secret of a member's second factor is sealed. */
export function secretName({ id }: Pick<MemberRecord, "id">): SecretName {
  return { kind: "member", id, field: "totp" };
}

/** Uses a code. Returns the second factor that refuses this code from now on; null for a wrong code. */
export function acceptCode(
  totp: TotpRecord,
  opened: OpenedTotp | null,
  code: string,
  now: number,
): TotpRecord | null {
  const lastStep = stepOf(totp, opened, code, now);
  if (lastStep !== null) return { ...totp, lastStep };
  const used = hashSecret(plainCode(code));
  const recoveryHashes = totp.recoveryHashes.filter((hash) => hash !== used);
  return recoveryHashes.length < totp.recoveryHashes.length ? { ...totp, recoveryHashes } : null;
}

/** True for a member who has to enter a code. */
export function isTotpOn({ totp }: Pick<MemberRecord, "totp">): boolean {
  return totp?.isConfirmed ?? false;
}

/** Returns the time step of a right code that is newer than the last used code; null for any other code. */
function stepOf(totp: TotpRecord, opened: OpenedTotp | null, code: string, now: number): number | null {
  // The secret may have been replaced since it was opened.
  if (opened?.sealed !== totp.secret.sealed) return null;
  const delta = totpOf(opened.secret, "").validate({
    token: code.replaceAll(" ", ""),
    timestamp: now,
    window: WINDOW,
  });
  if (delta === null) return null;
  const step = Math.floor(now / 1000 / STEP_SECONDS) + delta;
  return step > totp.lastStep ? step : null;
}

function totpOf(secret: string, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret), period: STEP_SECONDS });
}

/** Makes a recovery code: four groups of four letters and digits. */
function newRecoveryCode(): string {
  const text = randomText(RECOVERY_LENGTH).toLowerCase();
  return text.match(/.{4}/g)?.join("-") ?? text;
}

function plainCode(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
