import type { TextDialect } from "../dialect.ts";
import { PING_FRAME } from "./event-frame.ts";
import { forVendor, readReply } from "./forward.ts";
import { MessagesReader, parseReply } from "./read-reply.ts";
import { readConversation } from "./read-request.ts";
import { type MessagesRequest, withRaw } from "./request.ts";
import { openStream } from "./stream.ts";
import { MessagesWriter, writeReply } from "./write-reply.ts";
import { writeConversation } from "./write-request.ts";

export { writeError } from "./error.ts";
export { kindOfType, saysTooLong } from "./error.ts";
export {
  countSchema,
  messagesSchema,
  readCountRequest,
  readRequest,
  type MessagesPayload,
} from "./request.ts";

/** The dialect of the messages protocol, both for callers and for vendors. */
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
