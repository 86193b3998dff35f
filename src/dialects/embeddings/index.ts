/** Embeddings, in OpenAI's protocol at the caller's end. */
export { readReply, writeReply } from "./reply.ts";
export { forVendor, inputText, readRequest, type EmbeddingsPayload } from "./request.ts";
