import type { Behaviour } from "../behaviour.ts";
import { faultyChoices, writeLogprobs, type ChatReply } from "./chat.ts";

const STREAM_ERROR = {
  error: { message: "The server had an error", type: "server_error", param: null, code: null },
};

/** Yields the frames of a streamed chat response as text with line ends, with the behaviour's fault. */
export function* writeFrames(reply: ChatReply, behaviour: Behaviour, hasUsage: boolean): Generator<string> {
  const write = (data: string) => frame(data, behaviour);
  if (behaviour.fault === "error-frame-first") {
    yield write(JSON.stringify(STREAM_ERROR));
    return;
  }
  if (behaviour.fault === "done-only") {
    yield write("[DONE]");
    return;
  }
  if (behaviour.fault === "comments") yield ": waiting for the model\n\n";
  let sent = 0;
  for (const delta of deltas(reply)) {
    const { content } = Object(delta);
    const logprobs = writeLogprobs(reply, content ? [content] : []);
    yield write(chunk(reply, behaviour, hasUsage, [{ index: 0, delta, logprobs, finish_reason: null }]));
    sent += 1;
    if (behaviour.fault === "comments") yield ": still here\n\n";
    if (behaviour.fault === "error-frame-later" && sent > (behaviour.after ?? 2)) {
      yield write(JSON.stringify(STREAM_ERROR));
      return;
    }
  }
  yield write(
    chunk(reply, behaviour, hasUsage, [{ index: 0, delta: {}, logprobs: null, finish_reason: reply.finish }]),
  );
  yield* endings(reply, behaviour, hasUsage, write);
}

function* endings(
  reply: ChatReply,
  behaviour: Behaviour,
  hasUsage: boolean,
  write: (data: string) => string,
): Generator<string> {
  const report = JSON.stringify({ ...envelope(reply), choices: [], usage: reply.usage });
  if (hasUsage && reply.usage !== undefined) {
    yield write(report);
    if (behaviour.fault === "usage-twice") yield write(report);
  }
  if (behaviour.fault !== "no-done") yield write("[DONE]");
  if (behaviour.fault === "done-twice") yield write("[DONE]");
  if (behaviour.fault === "chunk-after-done")
    yield write(
      chunk(reply, behaviour, hasUsage, [{ index: 0, delta: { content: "late" }, finish_reason: null }]),
    );
}

function* deltas(reply: ChatReply): Generator<unknown> {
  yield { role: "assistant", content: reply.calls.length > 0 ? null : "", refusal: null };
  for (const content of reply.pieces) yield { content };
  for (const [index, { id, name, arguments: text }] of reply.calls.entries()) {
    yield { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] };
    for (const piece of text.match(/.{1,5}/gs) ?? [])
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

function chunk(reply: ChatReply, behaviour: Behaviour, hasUsage: boolean, choices: unknown[]): string {
  return JSON.stringify({
    ...envelope(reply),
    ...(behaviour.fault !== "choices-missing" && { choices: faultyChoices(choices, behaviour) }),
    // When usage is requested, every chunk except the last has a null usage.
    ...(hasUsage && { usage: null }),
  });
}

function envelope(reply: ChatReply): object {
  return { id: reply.id, object: "chat.completion.chunk", created: 1_790_000_000, model: reply.model };
}

function frame(data: string, behaviour: Behaviour): string {
  const end = behaviour.fault === "crlf" ? "\r\n" : behaviour.fault === "cr" ? "\r" : "\n";
  return `data:${behaviour.fault === "no-space" ? "" : " "}${data}${end}${end}`;
}
