/** The id of a reply whose vendor gave none, or one in the form of another protocol. */
export function newReplyId(): string {
  return `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`;
}
