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
 * Reads `{model}:{method}`; null for any other method. Clients put the kind of resource before the model, sometimes
 * twice or with its publisher (Google Gen AI SDK).
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

/** Returns the id in the resource name of a model. */
export function modelName(name: string): string {
  return name.replace(/^(?:publishers\/google\/)?models\//, "");
}

/** True when the end of a path names a model and no method. */
export function isModelName(name: string): boolean {
  return readCall(name) === null;
}
