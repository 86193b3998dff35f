import type { TextDialect } from "../dialect.ts";
import { PING_FRAME } from "./event-frame.ts";
import { parseReply } from "./parse-reply.ts";
import { readConversation } from "./read-request.ts";
import { MessagesReader } from "./read-reply.ts";
import { MessagesWriter } from "./reply-writer.ts";
import { readReply } from "./forward.ts";
import { forVendor, withRaw, type MessagesRequest } from "./request.ts";
import { openStream } from "./stream.ts";
import { writeConversation } from "./write-request.ts";
import { writeReply } from "./write-reply.ts";

export { writeError } from "./error.ts";
export { kindOfType } from "./vendor-failure.ts";
export { readCountRequest, readRequest, type MessagesPayload } from "./request.ts";

/** The messages protocol, read and written at either end. */
export const messages: TextDialect<MessagesRequest> = {
  name: "messages",
  keepAliveFrame: PING_FRAME,
  countedFeatures: ["web_search", "web_fetch"],
  withRaw,
  forVendor,
  readReply,
  openStream: (_payload, publicModel, policy) => openStream(publicModel, policy),
  readConversation,
  writeConversation,
  parseReply,
  replyReader: () => new MessagesReader(),
  writeReply,
  replyWriter: (payload) => new MessagesWriter(payload),
};
