/** Makes a unique id, such as `req_0193…` (UUID version 7 without dashes). The ids sort by creation time. */
export function newId(
  prefix:
    | "req"
    | "job"
    | "key"
    | "org"
    | "file"
    | "price"
    | "entry"
    | "proc"
    | "budget"
    | "claim"
    | "user"
    | "hook"
    | "session"
    | "token"
    | "msg"
    | "mail"
    | "alert",
): string {
  return `${prefix}_${Bun.randomUUIDv7("buffer").toString("hex")}`;
}
