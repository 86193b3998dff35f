import type { TextDialect } from "../dialect.ts";
import type { ChatRequest } from "./request.ts";

type Translation = Pick<
  TextDialect<ChatRequest>,
  "readConversation" | "writeConversation" | "parseReply" | "replyReader" | "writeReply" | "replyWriter"
>;

export const translation: Translation = {
  readConversation: () => notYet(),
  writeConversation: () => notYet(),
  parseReply: () => notYet(),
  replyReader: () => notYet(),
  writeReply: () => notYet(),
  replyWriter: () => notYet(),
};

function notYet(): never {
  throw new Error("not built");
}
