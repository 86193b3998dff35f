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

/** The members that distinguish the calls of a stream. */
interface CallMark {
  /** Empty where the delta has none. */
  id: string;
  name: string;
}

/**
 * Numbers the calls of a choice in the order of their appearance. Servers differ: parallel calls may all have index 0
 * and differ in their id (vLLM), or have no index and come whole (xAI, Google); names and ids may be repeated in
 * every delta.
 */
export class CallNumbers {
  /** Ids by number; empty where there is none. */
  readonly #ids: string[] = [];
  /** The last call of each index. */
  readonly #byIndex = new Map<number, number>();
  readonly #reported = new Set<string>();

  /** The number of the call that a delta belongs to; from 0, without gaps. */
  of({ id, name }: CallMark, index: unknown): number {
    const last = typeof index === "number" ? this.#byIndex.get(index) : this.#ids.length - 1;
    if (last === undefined || last < 0) return this.#open(id, index);
    const known = this.#ids[last] ?? "";
    // Without an index, only a name shows that a call begins.
    const isOther = name !== "" && (id === "" ? typeof index !== "number" : known !== "" && id !== known);
    if (isOther) return this.#open(id, index);
    this.#ids[last] ||= id;
    return last;
  }

  /** Returns true when a call has its id, its name or its type for the first time. */
  isNews(number: number, member: keyof CallMark | "type", value: string): boolean {
    const key = `${member} ${number}`;
    if (value === "" || this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  #open(id: string, index: unknown): number {
    const number = this.#ids.push(id) - 1;
    if (typeof index === "number") this.#byIndex.set(index, number);
    return number;
  }
}
