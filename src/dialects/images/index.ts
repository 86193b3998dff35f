/* The image interface: reads requests for new pictures and edits, and writes replies and errors. */
export { writeError } from "./error.ts";
export {
  editFormSchema,
  editSchema,
  generationSchema,
  jobFormSchema,
  jobSchema,
  refuseJobVariants,
} from "./fields.ts";
export { writeReply } from "./reply.ts";
export {
  formFields,
  isImageField,
  isKnownField,
  isPictureField,
  readEdit,
  readGeneration,
  type ImageField,
} from "./request.ts";
