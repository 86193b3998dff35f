/** Chat completions, read and written at either end. */
export { writeError } from "./error.ts";
export { readReply, type ChatReply } from "./reply.ts";
export { forUpstream, limitOutput, readRequest, type ChatPayload, type ChatRequest } from "./request.ts";
export { ChatStream, errorFrame, KEEP_ALIVE_FRAME } from "./stream.ts";
