import { UpstreamError } from "../../../domain/upstream-error.ts";
import { parseExactly } from "../../../lib/parse-json.ts";
import { isObject, ownValue } from "../../../lib/json.ts";
import {
  collectReply,
  type FinishReason,
  type Reply,
  type ReplyEvent,
  type ReplyReader,
} from "../../conversation/reply.ts";
import type { Signature } from "../../conversation/signature.ts";
import type { VendorReply } from "../../dialect.ts";
import { blockReasonOf, candidatesOf, finishReasonOf, parseEvent, partsOf } from "./event.ts";
import { readSignature } from "./read-parts.ts";
import { readUsage } from "./usage.ts";

/** Parses a whole reply, which has the form of one event. Throws an `UpstreamError` for text that is not a reply. */
export function parseReply({ text }: VendorReply): Reply {
  const reader = new NativeReader();
  const reply = collectReply([...reader.read(text)]);
  if (!reader.isComplete) throw new UpstreamError("broken", "the response has no candidate that ended");
  return reply;
}

/**
 * Reads the first candidate of a stream, event by event. The protocol has no end mark. The finish reason may arrive
 * after a tool call, and is `STOP` even for tool calls.
 */
export class NativeReader implements ReplyReader {
  readonly isDone = false;
  isComplete = false;
  #hasStarted = false;
  #calls = 0;
  #partial: PartialCall | null = null;

  *read(data: string): Generator<ReplyEvent, void> {
    const event = parseEvent(data, data.includes('"functionCall"') ? parseExactly : undefined);
    const { responseId, usageMetadata } = event;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      yield { type: "start", id: typeof responseId === "string" ? responseId : null };
    }
    const candidate = candidatesOf(event).find(({ index = 0 }) => index === 0);
    for (const part of candidate ? partsOf(candidate) : []) yield* this.#readPart(part);
    const ended = candidate && finishReasonOf(candidate);
    if (ended) yield this.#finish(finishOf(ended, this.#calls > 0));
    else if (!candidate && blockReasonOf(event) !== null) yield this.#finish("refused");
    const report = readUsage(usageMetadata);
    if (report) yield { type: "usage", report };
  }

  #finish(reason: FinishReason): ReplyEvent {
    this.isComplete = true;
    return { type: "finish", finish: { reason, stopSequence: null } };
  }

  *#readPart(part: Record<string, unknown>): Generator<ReplyEvent, void> {
    const { text, thought, thoughtSignature, functionCall } = part;
    const signed = readSignature(thoughtSignature);
    if (isObject(functionCall)) return yield* this.#readCall(functionCall, signed?.signature);
    if (OTHERS.some((name) => isObject(part[name]))) yield { type: "other" };
    if (typeof text !== "string") return;
    if (thought !== true) {
      if (text !== "") yield { type: "text", text };
      return;
    }
    if (text !== "") yield { type: "reasoning", text };
    if (signed) yield { type: "signature", ...signed };
  }

  /** Reads a tool call. The arguments of a call that arrives in pieces are reported after its last piece. */
  *#readCall(
    { id, name, args, partialArgs, willContinue }: Record<string, unknown>,
    signature: Signature | undefined,
  ): Generator<ReplyEvent, void> {
    if (typeof name === "string" && name !== "") {
      const call = this.#calls++;
      const callId = typeof id === "string" && id !== "" ? id : `call_${call}`;
      yield { type: "call", call, id: callId, name, kind: "function", ...(signature && { signature }) };
      if (willContinue !== true) {
        yield { type: "arguments", call, text: JSON.stringify(isObject(args) ? args : {}) };
        return;
      }
      this.#partial = new PartialCall(call);
    }
    this.#partial?.add(partialArgs);
    if (!this.#partial || willContinue === true) return;
    yield { type: "arguments", call: this.#partial.call, text: JSON.stringify(this.#partial.args) };
    this.#partial = null;
  }
}

/** Parts without a neutral form (Gemini API reference, `Part`). */
const OTHERS = ["inlineData", "fileData", "executableCode", "codeExecutionResult"];

const FINISHES: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "refused",
  RECITATION: "refused",
  LANGUAGE: "refused",
  BLOCKLIST: "refused",
  PROHIBITED_CONTENT: "refused",
  SPII: "refused",
  IMAGE_SAFETY: "refused",
  IMAGE_PROHIBITED_CONTENT: "refused",
  IMAGE_RECITATION: "refused",
};

/**
 * Returns the finish reason (Gemini API, `FinishReason`). Throws for an unknown reason, which means that the model
 * failed, so that another target is called.
 */
function finishOf(reason: string, hasCalls: boolean): FinishReason {
  const found = ownValue(FINISHES, reason);
  if (found === undefined) {
    const named = reason.replace(/\W/g, "?").slice(0, 40);
    throw new UpstreamError("broken", `the model ended with ${named}`, { isByRequest: true });
  }
  return found === "stop" && hasCalls ? "tool_calls" : found;
}

const MAX_DEPTH = 64;
const STEP = /^(?:\.([^.[\]]+)|\[(\d{1,5})\]|\[(?:'([^']*)'|"([^"]*)")\])/;
const FORBIDDEN: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A tool call whose arguments arrive as values, or pieces of strings, at JSON paths (Vertex AI, `PartialArg`). */
class PartialCall {
  readonly args: Record<string, unknown> = {};

  constructor(readonly call: number) {}

  add(partialArgs: unknown): void {
    if (!Array.isArray(partialArgs)) return;
    for (const each of partialArgs) if (isObject(each)) this.#addOne(each);
  }

  #addOne({ jsonPath, stringValue, numberValue, boolValue, nullValue }: Record<string, unknown>): void {
    const steps = typeof jsonPath === "string" ? stepsOf(jsonPath) : null;
    const value = nullValue === undefined ? (stringValue ?? numberValue ?? boolValue) : null;
    if (!steps || value === undefined) return;
    let owner: Record<string | number, unknown> = this.args;
    for (const [index, step] of steps.entries()) {
      // Items arrive in order. An index after the end of the list would leave a gap.
      if (Array.isArray(owner) && Number(step) > owner.length) return;
      const next = steps[index + 1];
      if (next === undefined) {
        const before = owner[step];
        // A further piece of a string is appended.
        owner[step] = typeof before === "string" && typeof value === "string" ? before + value : value;
        return;
      }
      const inner = owner[step];
      const isOwner = typeof inner === "object" && inner !== null;
      owner = isOwner
        ? (inner as typeof owner)
        : ((owner[step] = typeof next === "number" ? [] : {}) as typeof owner);
    }
  }
}

/** Returns the steps of a path such as `$.list[0].name`; null for an invalid path. */
function stepsOf(path: string): (string | number)[] | null {
  const steps: (string | number)[] = [];
  let rest = path.startsWith("$") ? path.slice(1) : `.${path}`;
  while (rest !== "") {
    const [matched, name, index, single, double] = STEP.exec(rest) ?? [];
    const step = index === undefined ? (name ?? single ?? double) : Number(index);
    if (matched === undefined || step === undefined || steps.length >= MAX_DEPTH) return null;
    if (FORBIDDEN.has(String(step))) return null;
    steps.push(step);
    rest = rest.slice(matched.length);
  }
  return steps.length > 0 ? steps : null;
}
