import type { Behaviour } from "../behaviour.ts";
import type { Parsed } from "./responses-rules.ts";

/** The reply of a simulated model: its final output items, and the fields that the response object repeats. */
export interface SimulatedReply {
  response: Record<string, unknown>;
  items: Parsed[];
  /** Number of pieces of each streamed text. */
  pieces: number;
  usage: unknown;
}

type Send = (type: string, fields: object) => string;

/** Yields the events of a streamed response in the vendor's order, with the behaviour's fault. */
export function* writeResponseFrames(reply: SimulatedReply, behaviour: Behaviour): Generator<string> {
  const send = numbered(behaviour);
  const { fault, code = "server_error" } = behaviour;
  const running = { ...reply.response, status: "in_progress", output: [], usage: null };
  const error = { code, message: "The server had an error. Please try again in 7s." };
  if (fault === "error-frame-first") {
    yield send("error", { ...error, param: null });
    return;
  }
  yield send("response.created", { response: running });
  yield send("response.in_progress", { response: running });
  if (fault === "failed-frame-first") {
    yield send("response.failed", { response: { ...running, status: "failed", error } });
    return;
  }
  if (fault === "comments") yield ": a comment of the vendor\n\n";
  let sent = 0;
  for (const [index, item] of reply.items.entries()) {
    for (const frame of itemFrames(send, index, item, reply.pieces)) {
      yield frame;
      if (fault === "comments") yield ": still here\n\n";
      if (!frame.includes(".delta") || ++sent <= (behaviour.after ?? 2)) continue;
      if (fault === "error-frame-later") {
        yield send("error", { error: { ...error, type: "server_error", param: null } });
        return;
      }
      if (fault === "failed-frame-later") {
        yield send("response.failed", { response: { ...running, status: "failed", error } });
        return;
      }
    }
  }
  if (fault === "unknown-events")
    yield send("response.steer.noticed", { output_index: 99, delta: { odd: 1 } });
  const { status } = reply.response;
  yield send(`response.${String(status)}`, { response: { ...reply.response, output: reply.items } });
  if (fault === "done-twice") yield "data: [DONE]\n\n";
}

function numbered(behaviour: Behaviour): Send {
  let number = 0;
  const newLine = behaviour.fault === "crlf" ? "\r\n" : "\n";
  const space = behaviour.fault === "no-space" ? "" : " ";
  return (type, fields) => {
    const data = JSON.stringify({ type, sequence_number: number++, ...fields });
    return `event:${space}${type}${newLine}data:${space}${data}${newLine}${newLine}`;
  };
}

function* itemFrames(send: Send, index: number, item: Parsed, pieces: number): Generator<string> {
  const output_index = index;
  const item_id = item["id"];
  const begun = { ...item, ...EMPTY[item["type"] as keyof typeof EMPTY] };
  yield send("response.output_item.added", { output_index, item: begun });
  if (item["type"] === "reasoning") {
    for (const [summary_index, part] of item["summary"].entries()) {
      const position = { item_id, output_index, summary_index };
      yield send("response.reasoning_summary_part.added", { ...position, part: { ...part, text: "" } });
      for (const delta of cut(part.text, pieces))
        yield send("response.reasoning_summary_text.delta", { ...position, delta, obfuscation: "x1y2" });
      yield send("response.reasoning_summary_text.done", { ...position, text: part.text });
      yield send("response.reasoning_summary_part.done", { ...position, part });
    }
  } else if (item["type"] === "message") {
    for (const [content_index, part] of item["content"].entries()) {
      const position = { item_id, output_index, content_index };
      yield send("response.content_part.added", { ...position, part: { ...part, text: "", logprobs: [] } });
      const { logprobs } = part;
      for (const [at, delta] of cut(part.text, pieces).entries())
        yield send("response.output_text.delta", {
          ...position,
          delta,
          logprobs: logprobs.slice(at, at + 1),
          obfuscation: "ab",
        });
      yield send("response.output_text.done", { ...position, text: part.text, logprobs });
      yield send("response.content_part.done", { ...position, part });
    }
  } else if (item["type"] === "function_call" || item["type"] === "custom_tool_call") {
    const isCustom = item["type"] === "custom_tool_call";
    const event = isCustom ? "response.custom_tool_call_input" : "response.function_call_arguments";
    const text: string = isCustom ? item["input"] : item["arguments"];
    for (const delta of cut(text, pieces)) yield send(`${event}.delta`, { item_id, output_index, delta });
    const whole = isCustom ? { input: text } : { arguments: text, name: item["name"] };
    yield send(`${event}.done`, { item_id, output_index, ...whole });
  } else if (item["type"] === "web_search_call") {
    for (const step of ["in_progress", "searching", "completed"])
      yield send(`response.web_search_call.${step}`, { item_id, output_index });
  }
  yield send("response.output_item.done", { output_index, item });
}

/** Fields that are empty when an item begins, by the item's type. */
const EMPTY = {
  message: { status: "in_progress", content: [] },
  reasoning: { summary: [], encrypted_content: "" },
  function_call: { status: "in_progress", arguments: "" },
  custom_tool_call: { status: "in_progress", input: "" },
  web_search_call: { status: "in_progress" },
};

/** Returns the pieces in which a text is sent. */
export function cut(text: string, pieces: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}
