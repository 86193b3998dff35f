/** A protocol of text models. The same four protocols exist for callers and for vendors. */
export type TextDialectName = "chat" | "messages" | "responses" | "native";
