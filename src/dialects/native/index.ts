/* The native generate protocol (Gemini): requests of callers and for vendors, and replies and errors for callers. */
export { writeError } from "./error.ts";
export { linkDrafts, type LinkDraft } from "./reply.ts";
export { repeatRequest } from "./repeat.ts";
export { writeReply } from "./reply.ts";
export { isPicturePath, readRequest } from "./request.ts";
