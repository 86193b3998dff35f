/*
 * The native generate protocol (Gemini). Reads callers' requests and writes replies and errors. Also writes requests to
 * vendors of the same protocol.
 */
export { writeError } from "./error.ts";
export { linkDrafts, type LinkDraft } from "./reply.ts";
export { repeatRequest } from "./repeat.ts";
export { writeReply } from "./reply.ts";
export { isPicturePath, readRequest } from "./request.ts";
