import type { TextDialect } from "../dialect.ts";
import { translation } from "./conversation.ts";
import { readReply } from "./reply.ts";
import { forVendor, type ChatRequest } from "./request.ts";
import { ChatStream, KEEP_ALIVE_FRAME } from "./stream.ts";

export { writeError } from "./error.ts";
export { readRequest, type ChatPayload, type ChatRequest } from "./request.ts";

/** Chat completions, read and written at either end. */
export const chat: TextDialect<ChatRequest> = {
  name: "chat",
  keepAliveFrame: KEEP_ALIVE_FRAME,
  forVendor,
  readReply,
  openStream: (_payload, publicModel, policy) => new ChatStream(publicModel, policy),
  ...translation,
};
