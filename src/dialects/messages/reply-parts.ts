import type { Finish } from "../conversation/reply.ts";
import { ownValue } from "../../lib/own-value.ts";

/** Why a reply ended, by the protocol's words (Anthropic API, "Handling stop reasons"). */
const REASONS: Readonly<Record<string, Finish["reason"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "refused",
};

export function readFinish({
  stop_reason: reason,
  stop_sequence: sequence,
}: Record<string, unknown>): Finish {
  const known = typeof reason === "string" ? ownValue(REASONS, reason) : undefined;
  return { reason: known ?? "stop", stopSequence: typeof sequence === "string" ? sequence : null };
}

/** Fields of every message for features that translations do not have. */
export const NO_EXTRAS = { container: null, diagnostics: null } as const;

/** Fields of a call besides its content: the model itself made it. */
export const CALL_EXTRAS = { caller: { type: "direct" } } as const;

/** The fields that tell the ending. */
interface Stop {
  stop_reason: string | null;
  stop_sequence: string | null;
  stop_details: { type: "refusal"; category: null; explanation: null } | null;
}

export const NOT_STOPPED: Stop = { stop_reason: null, stop_sequence: null, stop_details: null };

/** Some vendors end a reply with calls by the word for a plain stop. */
export function writeFinish({ reason, stopSequence }: Finish, hasCalls: boolean): Stop {
  const stop = stopSequence === null ? "end_turn" : "stop_sequence";
  const word = reason === "stop" && hasCalls ? "tool_use" : STOPS[reason];
  const details =
    reason === "refused" ? ({ type: "refusal", category: null, explanation: null } as const) : null;
  return { stop_reason: word ?? stop, stop_sequence: stopSequence, stop_details: details };
}

const STOPS: Readonly<Record<Finish["reason"], string | null>> = {
  stop: null,
  length: "max_tokens",
  tool_calls: "tool_use",
  refused: "refusal",
};

const ID = /^msg_[\w-]+$/;

/** The id of a message for callers: a vendor's of this protocol, else a new one. */
export function messageId(id: string | null): string {
  return id !== null && ID.test(id) ? id : `msg_${Bun.randomUUIDv7("buffer").toString("hex")}`;
}
