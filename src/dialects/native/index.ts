/*
 * The native generate protocol (Gemini). Reads requests of callers, writes replies and errors for them, and writes
 * requests to vendors of the same protocol.
 */
export { writeError } from "./error.ts";
export { linkDrafts, type LinkDraft } from "./reply.ts";
export { repeatRequest } from "./repeat.ts";
export { writeReply } from "./reply.ts";
export { isPicturePath, readRequest } from "./request.ts";
