import type { TextDialect } from "../dialect.ts";
import { KEEP_ALIVE_FRAME } from "../sse/vendor-frames.ts";
import { forVendor, readReply } from "./forward.ts";
import { parseReply, ResponsesReader } from "./read-reply.ts";
import { readConversation } from "./read-request.ts";
import { readRequest, type ResponsesRequest } from "./request.ts";
import { openStream } from "./stream.ts";
import { ResponsesWriter, writeReply } from "./write-reply.ts";
import { writeConversation } from "./write-request.ts";

export { writeError } from "./error.ts";
export { readRequest, responsesSchema, type ResponsesPayload, type ResponsesRequest } from "./request.ts";

/** The dialect of the responses protocol without stored responses, both for callers and for vendors. */
export const responses: TextDialect<ResponsesRequest> = {
  name: "responses",
  keepAliveFrame: KEEP_ALIVE_FRAME,
  withRaw: ({ headers }, raw) => readRequest(Buffer.from(raw), new Headers(headers)),
  forVendor,
  readReply,
  openStream: (_payload, publicModel, policy) => openStream(publicModel, policy),
  readConversation,
  writeConversation,
  parseReply,
  replyReader: () => new ResponsesReader(),
  writeReply,
  replyWriter: (payload) => new ResponsesWriter(payload),
};
