import type { Choice, Reply } from "./reply.ts";

/** Writes a reply as a chat completion in JSON (OpenAI chat reference, "The chat completion object"). */
export function writeCompletion(reply: Reply): string {
  const choices = reply.choices.map(({ tokens, toolCall, finishReason }, index) => {
    const text = tokens.join("");
    const call = toolCall && callOf(toolCall, text);
    const message = { role: "assistant", content: call ? null : text, refusal: null, annotations: [] };
    return {
      index,
      message: call ? { ...message, tool_calls: [call] } : message,
      logprobs: null,
      finish_reason: finishReason,
    };
  });
  const { id, created, model } = reply;
  const head = { id, object: "chat.completion", created, model };
  return JSON.stringify({ ...head, choices, usage: usageOf(reply), system_fingerprint: FINGERPRINT });
}

/**
 * Yields a reply as the frames of a stream, made while they are read. Each choice has a frame for its role, one frame
 * per token and one for its end. Then come frames with the usage and with `[DONE]` (OpenAI chat reference, "The chat
 * completion chunk object").
 */
export function* writeFrames(reply: Reply): Generator<string, void> {
  const { id, created, model } = reply;
  const head = { id, object: "chat.completion.chunk", created, model, system_fingerprint: FINGERPRINT };
  const opening = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
  for (const [index, choice] of reply.choices.entries()) {
    const before = `${opening}{"index":${index},"delta":`;
    const after = `,"logprobs":null,"finish_reason":null}],"usage":null}\n\n`;
    yield before + firstDelta(choice) + after;
    const [left, right] = choice.toolCall
      ? [`${before}{"tool_calls":[{"index":0,"function":{"arguments":`, `}}]}${after}`]
      : [`${before}{"content":`, `}${after}`];
    for (const token of choice.tokens) yield left + JSON.stringify(token) + right;
    yield `${before}{},"logprobs":null,"finish_reason":"${choice.finishReason}"}],"usage":null}\n\n`;
  }
  yield `${opening}],"usage":${JSON.stringify(usageOf(reply))}}\n\n`;
  yield "data: [DONE]\n\n";
}

const FINGERPRINT = "fp_sandbox";

function firstDelta({ toolCall }: Choice): string {
  if (toolCall === null) return `{"role":"assistant","content":"","refusal":null}`;
  const call = { index: 0, ...callOf(toolCall, "") };
  return JSON.stringify({ role: "assistant", content: null, tool_calls: [call] });
}

function callOf(call: { id: string; name: string }, text: string) {
  return { id: call.id, type: "function", function: { name: call.name, arguments: text } };
}

function usageOf({ usage }: Reply) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
