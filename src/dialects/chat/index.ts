/** Chat completions: read and said at either end. */
export { writeError } from "./error.ts";
export { readReply, estimateUsage, type ChatReply } from "./reply.ts";
export { forUpstream, readRequest, type ChatPayload, type ChatRequest } from "./request.ts";
export { ChatStream, errorFrame, KEEP_ALIVE_FRAME } from "./stream.ts";
