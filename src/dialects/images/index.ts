/** The image interface: generations and edits, read and said. */
export { writeError } from "./error.ts";
export { writeReply } from "./reply.ts";
export { formFields, isPictureField, readEdit, readGeneration, type ImageField } from "./request.ts";
