/** What the protocol takes as the id of a call (Anthropic API, "Tool use"). */
const USABLE = /^[a-zA-Z0-9_-]+$/;
const CARRIED = "gw_id_";

/** A call's id as the protocol can say it: its own ids as they are, others encoded, always in the same way. */
export function writeCallId(id: string): string {
  return USABLE.test(id) && !id.startsWith(CARRIED) ? id : CARRIED + Buffer.from(id).toString("base64url");
}

/** The id that `writeCallId` was given. */
export function readCallId(id: string): string {
  return id.startsWith(CARRIED) ? Buffer.from(id.slice(CARRIED.length), "base64url").toString() : id;
}
