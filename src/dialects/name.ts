/** A wire format of text models. It is the same at both ends, served and called. */
export type TextDialectName = "chat" | "messages" | "responses" | "native";
