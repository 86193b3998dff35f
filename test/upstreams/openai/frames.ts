import type { Plan } from "../plan.ts";
import { bentChoices, type ChatReply } from "./chat.ts";

const STREAM_ERROR = {
  error: { message: "The server had an error", type: "server_error", param: null, code: null },
};

/** The frames of a streamed chat answer, as text with their line ends, bent as the plan says. */
export function* writeFrames(reply: ChatReply, plan: Plan, hasUsage: boolean): Generator<string> {
  const write = (data: string) => frame(data, plan);
  if (plan.fault === "error-frame-first") {
    yield write(JSON.stringify(STREAM_ERROR));
    return;
  }
  if (plan.fault === "done-only") {
    yield write("[DONE]");
    return;
  }
  if (plan.fault === "comments") yield ": waiting for the model\n\n";
  let sent = 0;
  for (const delta of deltas(reply)) {
    yield write(chunk(reply, plan, hasUsage, [{ index: 0, delta, logprobs: null, finish_reason: null }]));
    sent += 1;
    if (plan.fault === "comments") yield ": still here\n\n";
    if (plan.fault === "error-frame-later" && sent > (plan.after ?? 2)) {
      yield write(JSON.stringify(STREAM_ERROR));
      return;
    }
  }
  yield write(
    chunk(reply, plan, hasUsage, [{ index: 0, delta: {}, logprobs: null, finish_reason: reply.finish }]),
  );
  yield* endings(reply, plan, hasUsage, write);
}

function* endings(
  reply: ChatReply,
  plan: Plan,
  hasUsage: boolean,
  write: (data: string) => string,
): Generator<string> {
  const report = JSON.stringify({ ...envelope(reply), choices: [], usage: reply.usage });
  if (hasUsage && reply.usage !== undefined) {
    yield write(report);
    if (plan.fault === "usage-twice") yield write(report);
  }
  if (plan.fault !== "no-done") yield write("[DONE]");
  if (plan.fault === "done-twice") yield write("[DONE]");
  if (plan.fault === "chunk-after-done")
    yield write(
      chunk(reply, plan, hasUsage, [{ index: 0, delta: { content: "late" }, finish_reason: null }]),
    );
}

function* deltas(reply: ChatReply): Generator<unknown> {
  const { tool } = reply;
  yield { role: "assistant", content: tool ? null : "", refusal: null };
  for (const content of reply.pieces) yield { content };
  if (!tool) return;
  const named = { name: tool.name, arguments: "" };
  yield { tool_calls: [{ index: 0, id: "call_1", type: "function", function: named }] };
  for (const piece of tool.arguments.match(/.{1,5}/g) ?? [])
    yield { tool_calls: [{ index: 0, function: { arguments: piece } }] };
}

function chunk(reply: ChatReply, plan: Plan, hasUsage: boolean, choices: unknown[]): string {
  return JSON.stringify({
    ...envelope(reply),
    ...(plan.fault !== "choices-missing" && { choices: bentChoices(choices, plan) }),
    // With the option on, every chunk but the last carries a null report.
    ...(hasUsage && { usage: null }),
  });
}

function envelope(reply: ChatReply): object {
  return { id: reply.id, object: "chat.completion.chunk", created: 1_790_000_000, model: reply.model };
}

function frame(data: string, plan: Plan): string {
  const end = plan.fault === "crlf" ? "\r\n" : plan.fault === "cr" ? "\r" : "\n";
  return `data:${plan.fault === "no-space" ? "" : " "}${data}${end}${end}`;
}
