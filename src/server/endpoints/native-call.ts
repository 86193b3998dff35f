const METHODS = [
  "generateContent",
  "streamGenerateContent",
  "countTokens",
  "embedContent",
  "batchEmbedContents",
] as const;

/** The model and method in an address of the native protocol. */
export interface NativeCall {
  model: string;
  method: (typeof METHODS)[number];
}

/**
 * Reads `{model}:{method}`; null for any other form. Clients put `models/` before the model, sometimes twice, or
 * `publishers/google/models/` (Google Gen AI SDK).
 */
export function readCall(call: string): NativeCall | null {
  const at = call.lastIndexOf(":");
  const method = METHODS.find((each) => each === call.slice(at + 1));
  return method && at > 0 ? { method, model: modelName(call.slice(0, at)) } : null;
}

/** True for a call that requests embeddings. */
export function isEmbedding({ method }: NativeCall): boolean {
  return method === "embedContent" || method === "batchEmbedContents";
}

/** Returns the model id in a resource name. */
export function modelName(name: string): string {
  return name.replace(/^(?:publishers\/google\/)?models\//, "");
}

/** True when the last part of a path is a model without a method. */
export function isModelName(name: string): boolean {
  return readCall(name) === null;
}
