import { readEventData } from "../../../lib/sse-text.ts";
import { callGateway, failureOf, requestIdOf, type FailedReply, type GatewayCall } from "./gateway.ts";
import type { PlaygroundModel } from "./models.ts";

/** The protocols in which a conversation can be sent. */
export type Protocol = "chat" | "messages";

export interface Turn {
  role: "user" | "assistant";
  text: string;
  /** The model's reasoning before its text, if the model returns it. */
  thinking?: string;
}

export interface TextForm {
  system: string;
  /** Maximum output tokens. With null, the model's own maximum applies if the protocol allows that. */
  maxTokens: number | null;
  /** With null, the model's own default applies. */
  temperature: number | null;
}

export const EMPTY_TEXT_FORM: TextForm = { system: "", maxTokens: 1024, temperature: null };

/** A part of a reply as it arrives. Its texts are appended to the texts of the earlier parts. */
export interface ReplyDelta {
  text?: string;
  thinking?: string;
  /** Number of input tokens so far, including cached tokens. */
  input?: number;
  output?: number;
  /** The reason why the reply ended, in the protocol's own word. */
  stop?: string;
}

const MIN_MAX_TOKENS = 1024;

/** Returns the streamed request that continues the conversation with a model. */
export function textCall(
  protocol: Protocol,
  model: PlaygroundModel,
  { system, maxTokens, temperature }: TextForm,
  turns: readonly Turn[],
): GatewayCall {
  const messages = turns.map(({ role, text }) => ({ role, content: text }));
  const options = { stream: true, ...(temperature !== null && { temperature }) };
  if (protocol === "messages") {
    // The messages protocol requires a maximum.
    const value = {
      model: model.id,
      max_tokens: maxTokens ?? MIN_MAX_TOKENS,
      ...(system !== "" && { system }),
      messages,
    };
    return { method: "POST", path: "/v1/messages", body: { kind: "json", value: { ...value, ...options } } };
  }
  const all = system === "" ? messages : [{ role: "system", content: system }, ...messages];
  const value = { model: model.id, messages: all, ...(maxTokens !== null && { max_tokens: maxTokens }) };
  return {
    method: "POST",
    path: "/v1/chat/completions",
    body: { kind: "json", value: { ...value, ...options } },
  };
}

/**
 * Sends a request and reports the parts of its reply as they arrive. May throw a `GatewayFailure`, also after some
 * parts.
 */
export async function streamReply(
  keyId: string,
  call: GatewayCall,
  signal: AbortSignal,
  report: { onStart(requestId: string | null): void; onDelta(delta: ReplyDelta): void },
): Promise<void> {
  const response = await callGateway(keyId, call, signal);
  const requestId = requestIdOf(response);
  report.onStart(requestId);
  if (!response.body) return;
  for await (const data of readEventData(response.body)) {
    if (data === "[DONE]") return;
    const event: StreamedEvent = JSON.parse(data);
    if (event.error) throw failureOf(response.status, requestId, event);
    report.onDelta(event.type === undefined ? readChunk(event) : readMessageEvent(event));
  }
}

interface StreamedUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

/** The members of events that this file reads, for both protocols. */
interface StreamedEvent extends FailedReply {
  type?: string;
  choices?: {
    delta?: { content?: string | null; reasoning_content?: string | null };
    finish_reason?: string | null;
  }[];
  usage?: StreamedUsage | null;
  message?: { usage?: StreamedUsage };
  delta?: { text?: string; thinking?: string; stop_reason?: string | null };
}

function readChunk({ choices, usage }: StreamedEvent): ReplyDelta {
  const [choice] = choices ?? [];
  return {
    ...(choice?.delta?.content && { text: choice.delta.content }),
    ...(choice?.delta?.reasoning_content && { thinking: choice.delta.reasoning_content }),
    ...(choice?.finish_reason && { stop: choice.finish_reason }),
    ...(usage && { input: usage.prompt_tokens ?? 0, output: usage.completion_tokens ?? 0 }),
  };
}

function readMessageEvent({ message, usage, delta }: StreamedEvent): ReplyDelta {
  const counted = message?.usage ?? usage;
  const input = counted?.input_tokens;
  const cached = (counted?.cache_read_input_tokens ?? 0) + (counted?.cache_creation_input_tokens ?? 0);
  return {
    ...(delta?.text && { text: delta.text }),
    ...(delta?.thinking && { thinking: delta.thinking }),
    ...(delta?.stop_reason && { stop: delta.stop_reason }),
    ...(input !== undefined && { input: input + cached }),
    ...(counted?.output_tokens !== undefined && { output: counted.output_tokens }),
  };
}
