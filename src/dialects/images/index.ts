/** The image interface: generations and edits, read and said. */
export { writeError } from "./error.ts";
export { writeReply } from "./reply.ts";
export { readGeneration } from "./request.ts";
