/* Embeddings in OpenAI's protocol, for callers. */
export { MAX_VECTOR_BYTES, readReply, tooManyNumbers, writeReply, writeVectors } from "./reply.ts";
export {
  embeddingsSchema,
  foreignPayload,
  forVendor,
  inputText,
  readRequest,
  type EmbeddingsPayload,
} from "./request.ts";
