import { isObject } from "../../lib/json.ts";
import type { ToolCall } from "../conversation/request.ts";
import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";

/** A call as chat completions write it, in a message or in a delta. */
interface WrittenCall {
  id: string;
  type: "function" | "custom";
  function?: { name: string; arguments: string };
  custom?: { name: string; input: string };
  extra_content?: { google: { thought_signature: string } };
}

/** Reads a call, or the part of one that a delta has; null for what is none. Absent texts are empty. */
export function readCall(value: unknown): ToolCall | null {
  if (!isObject(value)) return null;
  const kind = isObject(value["custom"]) ? "custom" : "function";
  const named = value[kind];
  if (!isObject(named)) return null;
  const { id } = value;
  const signature = readSignature(value["extra_content"]);
  return {
    type: "tool_call",
    id: typeof id === "string" ? id : "",
    name: typeof named["name"] === "string" ? named["name"] : "",
    kind,
    arguments: argumentsOf(kind === "custom" ? named["input"] : named["arguments"]),
    ...(signature && { signature }),
  };
}

/** Text, or the object that some servers have in its place (Ollama, SGLang). */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}

/** Google's compatible endpoint signs calls here (Gemini API, "OpenAI compatibility", thought signatures). */
function readSignature(extra: unknown): Signature | null {
  const google = isObject(extra) ? extra["google"] : undefined;
  const value = isObject(google) ? google["thought_signature"] : undefined;
  return typeof value === "string" && value !== "" ? openSignature(value, "chat") : null;
}

export function writeCall({ id, name, kind, arguments: args, signature }: ToolCall): WrittenCall {
  return {
    id,
    type: kind,
    ...(kind === "custom" ? { custom: { name, input: args } } : { function: { name, arguments: args } }),
    ...(signature && {
      extra_content: { google: { thought_signature: sealSignature(signature, "chat") } },
    }),
  };
}

/** An id for a call whose vendor gave none. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
