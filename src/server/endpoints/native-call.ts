const METHODS = ["generateContent", "streamGenerateContent", "countTokens"] as const;

/** What is called by an address of the native protocol. */
export interface NativeCall {
  model: string;
  method: (typeof METHODS)[number];
}

/**
 * Reads `{model}:{method}`; null for another method. Clients put the kind of the resource before the model, once more
 * or with its publisher (Google Gen AI SDK).
 */
export function readCall(call: string): NativeCall | null {
  const at = call.lastIndexOf(":");
  const method = METHODS.find((each) => each === call.slice(at + 1));
  return method && at > 0 ? { method, model: modelName(call.slice(0, at)) } : null;
}

/** The id in a name of a model. */
export function modelName(name: string): string {
  return name.replace(/^(?:publishers\/google\/)?models\//, "");
}

/** Whether the end of a path names a model, and no call of one. */
export function isModelName(name: string): boolean {
  return readCall(name) === null;
}
