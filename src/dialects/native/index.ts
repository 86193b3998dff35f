/** The native generate protocol: read and said towards callers, and repeated towards vendors that speak it. */
export { writeError } from "./error.ts";
export { linkDrafts, type LinkDraft } from "./drafts.ts";
export { repeatRequest } from "./repeat.ts";
export { writeReply } from "./reply.ts";
export { isPicturePath, readRequest } from "./request.ts";
