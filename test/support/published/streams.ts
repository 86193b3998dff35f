import type { z } from "zod";
import { chatChunk } from "./chat.ts";
import { chatError, responsesError } from "./errors.ts";
import { MESSAGE_EVENTS, messagesErrorEvent } from "./messages.ts";
import { nativeError, nativeReply } from "./native.ts";
import { RESPONSE_EVENTS } from "./responses.ts";

/** Reads the events of one stream. The methods throw on a violation of the protocol. */
export interface StreamReader {
  /** `name` is the value of the `event:` line. */
  read(name: string | undefined, data: string): void;
  /** Call this when the stream has ended normally. */
  end(): void;
  /** Reads text at the stream's end that is not an event. Only some protocols have such text. */
  bare?(text: string): void;
}

/** True when a value is a JSON object with this member. */
function has<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === "object" && value !== null && key in value;
}

function demand(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(what);
}

/** Checks the order: one id, role and name first, usage alone near the end, then `[DONE]`; or an error at the end. */
export function chatStream(): StreamReader {
  let id: string | undefined;
  let hasUsage = false;
  let end: "done" | "error" | undefined;
  const begun = new Set<number>();
  const ended = new Set<number>();
  const calls = new Set<string>();
  function readChoice({
    index,
    delta,
    finish_reason: reason,
  }: z.output<typeof chatChunk>["choices"][number]): void {
    demand(begun.has(index) || delta.role === "assistant", `choice ${index} begins without a role`);
    begun.add(index);
    if (reason !== null) ended.add(index);
    for (const call of delta.tool_calls ?? []) {
      const key = `${index}/${call.index}`;
      const isNamed = call.id !== undefined && call.type !== undefined && call.function?.name !== undefined;
      demand(calls.has(key) || isNamed, `call ${key} begins without its name`);
      calls.add(key);
    }
  }
  return {
    read(_, data) {
      demand(end === undefined, `an event after the end: ${data}`);
      if (data === "[DONE]") {
        demand(hasUsage, "no usage before [DONE]");
        demand(begun.size > 0 && begun.size === ended.size, "a choice without a reason before [DONE]");
        end = "done";
        return;
      }
      const value: unknown = JSON.parse(data);
      if (has(value, "error")) {
        chatError.parse(value);
        end = "error";
        return;
      }
      const chunk = chatChunk.parse(value);
      demand((id ??= chunk.id) === chunk.id, `a chunk of ${chunk.id} in ${id}`);
      demand(!hasUsage, "a chunk after usage");
      demand(!chunk.usage || chunk.choices.length === 0, "usage beside choices");
      hasUsage = Boolean(chunk.usage);
      chunk.choices.forEach(readChoice);
    },
    end: () => demand(end !== undefined, "neither [DONE] nor an error at the end"),
  };
}

/** Checks the order: a message, its blocks one after another, its stop reason, its end; or an error at the end. */
export function messagesStream(): StreamReader {
  let state: "before" | "running" | "ended" = "before";
  let hasReason = false;
  let next = 0;
  let isOpen = false;
  function readBlock(type: string, index: number): void {
    demand(state === "running" && index === next, `${type} of block ${index} while ${next} is due`);
    demand(isOpen === (type !== "content_block_start"), `${type} of block ${index} out of turn`);
    if (type === "content_block_start") isOpen = true;
    if (type !== "content_block_stop") return;
    isOpen = false;
    next += 1;
  }
  return {
    read(name = "", data) {
      const value: unknown = JSON.parse(data);
      demand(has(value, "type") && value.type === name, `${name} is named otherwise in its data`);
      demand(state !== "ended", `${name} after the end`);
      if (name === "error") {
        messagesErrorEvent.parse(value);
        state = "ended";
        return;
      }
      if (!Object.hasOwn(MESSAGE_EVENTS, name)) return;
      const event = MESSAGE_EVENTS[name as keyof typeof MESSAGE_EVENTS].parse(value);
      demand((event.type === "message_start") === (state === "before"), `${name} while ${state}`);
      if ("index" in event) readBlock(event.type, event.index);
      if (event.type === "message_start") state = "running";
      if (event.type === "message_delta") hasReason = !isOpen && event.delta.stop_reason !== null;
      if (event.type !== "message_stop") return;
      demand(hasReason, "the end without a reason");
      state = "ended";
    },
    end: () => demand(state === "ended", "neither message_stop nor an error at the end"),
  };
}

/**
 * Checks that events count from 0, begin with `response.created` or an error, share one response, and have one end,
 * which only an error may follow.
 */
export function responsesStream(): StreamReader {
  let next = 0;
  let id: string | undefined;
  let end: "response" | "error" | undefined;
  return {
    read(name = "", data) {
      const value: unknown = JSON.parse(data);
      demand(has(value, "type") && value.type === name, `${name} is named otherwise in its data`);
      demand(
        has(value, "sequence_number") && value.sequence_number === next,
        `${name} is not number ${next}`,
      );
      demand(next > 0 || name === "response.created" || name === "error", `begun by ${name}`);
      next += 1;
      demand(end === undefined || (name === "error" && end === "response"), `${name} after the end`);
      if (name === "error") {
        // Each generation of official clients reads one of the two forms of an error.
        responsesError.parse(value);
        end = "error";
      } else if (/^response\.(?:completed|incomplete|failed)$/.test(name)) end = "response";
      if (!Object.hasOwn(RESPONSE_EVENTS, name)) return;
      const event = RESPONSE_EVENTS[name as keyof typeof RESPONSE_EVENTS].parse(value);
      if (!("response" in event)) return;
      demand((id ??= event.response.id) === event.response.id, `${event.response.id} in ${id}`);
    },
    end: () => demand(end !== undefined, "no state or error at the end"),
  };
}

/** Checks that replies have one id. An error may be the end, or all of the stream without the form of an event. */
export function nativeStream(): StreamReader {
  let id: string | undefined;
  let hasBegun = false;
  let hasEnded = false;
  return {
    read(_, data) {
      demand(!hasEnded, "an event after an error");
      const value: unknown = JSON.parse(data);
      if (has(value, "error")) {
        nativeError.parse(value);
        hasEnded = true;
        return;
      }
      const reply = nativeReply.parse(value);
      hasBegun = true;
      demand((id ??= reply.responseId) === reply.responseId, `a reply of ${reply.responseId} in ${id}`);
    },
    end: () => demand(hasEnded || hasBegun, "no reply"),
    bare(text) {
      demand(!hasBegun, "a bare error after replies");
      nativeError.parse(JSON.parse(text));
      hasEnded = true;
    },
  };
}
