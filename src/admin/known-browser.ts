import { createHmac, timingSafeEqual } from "node:crypto";
import { randomText } from "../lib/secret.ts";
import type { MemberRecord } from "./member-ports.ts";

const ID_LENGTH = 22;
const SHAPE = /^([0-9A-Za-z]{22})\.([0-9a-f]{64})$/;

type Signing = Pick<MemberRecord, "id" | "passwordHash">;

/** A text for the browser of a member who has signed in; another password makes it void. */
export function markBrowser(member: Signing): string {
  const id = randomText(ID_LENGTH);
  return `${id}.${signature(member, id).toString("hex")}`;
}

/** The id of a browser in which this member has signed in before; null for every other text. */
export function readBrowser(member: Signing | null, browser: string | null): string | null {
  const [, id, signed] = SHAPE.exec(browser ?? "") ?? [];
  if (!member?.passwordHash || id === undefined || signed === undefined) return null;
  return timingSafeEqual(signature(member, id), Buffer.from(signed, "hex")) ? id : null;
}

/** Nobody but the gateway knows the hash of a password, which every process can read. */
function signature({ id: memberId, passwordHash }: Signing, id: string): Buffer {
  return createHmac("sha256", `known browser ${passwordHash}`).update(`${memberId} ${id}`).digest();
}
