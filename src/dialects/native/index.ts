/** The native generate protocol: requests, replies and errors of callers, and requests to vendors that use it. */
export { writeError } from "./error.ts";
export { linkDrafts, type LinkDraft } from "./reply.ts";
export { repeatRequest } from "./repeat.ts";
export { writeReply } from "./reply.ts";
export { isPicturePath, readRequest } from "./request.ts";
