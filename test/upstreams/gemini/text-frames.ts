import { isObject } from "../../../src/lib/json.ts";
import type { Behaviour } from "../behaviour.ts";

export interface TextReply {
  model: string;
  thought: string;
  /** Pieces of the text, one for each event. */
  pieces: string[];
  /** Parts that contain calls. */
  calls: object[];
  signature: string | null;
  /** Reason why the prompt was blocked, or null. */
  blockReason: string | null;
  finish: string;
  /** The usage report. Undefined when there is none. */
  usage: unknown;
}

const STREAM_ERROR = {
  error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" },
};

/**
 * Yields the events of a streamed reply as text with line ends, with the behaviour's fault. Counts are cumulative. The
 * finish reason is in an event after the last content.
 */
export function* textFrames(reply: TextReply, behaviour: Behaviour): Generator<string> {
  const write = (event: object) => frame(JSON.stringify(event), behaviour);
  if (behaviour.fault === "error-frame-first") return yield write(STREAM_ERROR);
  if (behaviour.fault === "comments") yield ": waiting for the model\n\n";
  const end = { modelVersion: reply.model, responseId: "simulated1" };
  if (reply.blockReason !== null)
    return yield write({
      promptFeedback: { blockReason: reply.blockReason },
      usageMetadata: reply.usage,
      ...end,
    });
  let sent = 0;
  for (const parts of contentOf(reply)) {
    sent += 1;
    const candidates = [{ content: { role: "model", parts }, index: 0 }];
    yield write({ candidates, ...usageSoFar(reply.usage, sent), ...end });
    if (behaviour.fault === "error-frame-later" && sent > (behaviour.after ?? 2))
      return yield write(STREAM_ERROR);
  }
  const isSigned = reply.calls.length === 0 && reply.signature !== null;
  const last = { text: "", ...(isSigned && { thoughtSignature: reply.signature }) };
  const content = { role: "model", parts: [last] };
  yield write({
    candidates: [{ content, finishReason: reply.finish, index: 0 }],
    ...(reply.usage !== undefined && { usageMetadata: reply.usage }),
    ...end,
  });
}

function* contentOf({ thought, pieces, calls }: TextReply): Generator<object[]> {
  if (thought !== "") yield [{ text: thought, thought: true }];
  for (const text of pieces) yield [{ text }];
  // All calls of a step are in one event.
  if (calls.length > 0) yield calls;
}

function usageSoFar(usage: unknown, sent: number): object {
  if (!isObject(usage)) return {};
  const { promptTokenCount, promptTokensDetails } = usage;
  return { usageMetadata: { promptTokenCount, candidatesTokenCount: sent, promptTokensDetails } };
}

function frame(data: string, { fault }: Behaviour): string {
  const end = fault === "crlf" ? "\r\n" : fault === "cr" ? "\r" : "\n";
  return `data:${fault === "no-space" ? "" : " "}${data}${end}${end}`;
}
