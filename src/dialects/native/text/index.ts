import type { TextDialect } from "../../dialect.ts";
import { KEEP_ALIVE_FRAME } from "../../sse/vendor-frames.ts";
import { forVendor, readReply } from "./forward.ts";
import { NativeReader, parseReply } from "./read-reply.ts";
import { readConversation } from "./read-request.ts";
import { type NativeRequest, readRequest } from "./request.ts";
import { openStream } from "./stream.ts";
import { NativeWriter, writeReply } from "./write-reply.ts";
import { writeConversation } from "./write-request.ts";

export { saysTooLong } from "./event.ts";
export { asJsonArray } from "./json-array.ts";
export { nativeSchema, readCountRequest, readRequest } from "./request.ts";

/** The dialect of text in the native generate protocol, both for callers and for vendors. */
export const native: TextDialect<NativeRequest> = {
  name: "native",
  keepAliveFrame: KEEP_ALIVE_FRAME,
  withRaw: ({ parsed }, raw) => readRequest(Buffer.from(raw), parsed),
  forVendor,
  readReply,
  openStream: (_payload, publicModel, policy) => openStream(publicModel, policy),
  readConversation,
  writeConversation,
  parseReply,
  replyReader: () => new NativeReader(),
  writeReply,
  replyWriter: (payload) => new NativeWriter(payload),
};
