import { TranslatedStream } from "../conversation/translated-stream.ts";
import { untranslatable } from "../conversation/untranslatable.ts";
import type { TextDialect } from "../dialect.ts";
import { KEEP_ALIVE_FRAME } from "../sse/vendor-frames.ts";
import { forVendor, readReply } from "./forward.ts";
import { ChatReplyReader, parseReply } from "./read-reply.ts";
import { readConversation } from "./read-request.ts";
import { type ChatRequest, readRequest } from "./request.ts";
import { openStream } from "./stream.ts";
import { ChatReplyWriter, writeReply } from "./write-reply.ts";
import { writeConversation } from "./write-request.ts";

export { writeError } from "./error.ts";
export { asCompletionEvents, completionsSchema, readCompletion, writeCompletion } from "./completions.ts";
export { chatSchema, isMistralClient, readRequest, type ChatPayload, type ChatRequest } from "./request.ts";

/** The dialect of chat completions, both for callers and for vendors. */
export const chat: TextDialect<ChatRequest> = {
  name: "chat",
  keepAliveFrame: KEEP_ALIVE_FRAME,
  withRaw: ({ parsed }, raw) => readRequest(Buffer.from(raw), parsed.isMistralClient),
  forVendor,
  readReply,
  openStream(payload, publicModel, policy) {
    const { isMistralClient, choices } = payload.parsed;
    if (!isMistralClient) return openStream(publicModel, policy);
    // A translated reply has only one choice. Further choices would be billed but not delivered.
    if (choices > 1) throw untranslatable("n");
    return new TranslatedStream(new ChatReplyReader(), new ChatReplyWriter(payload), policy);
  },
  readConversation,
  writeConversation,
  parseReply,
  replyReader: () => new ChatReplyReader(),
  writeReply,
  replyWriter: (payload) => new ChatReplyWriter(payload),
};
