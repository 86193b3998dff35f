import { callGateway, failureOf, requestIdOf, type GatewayCall } from "./gateway.ts";
import type { PlaygroundModel } from "./models.ts";
import { readEvents } from "./sse.ts";

/** The protocols in which one talks. */
export type Protocol = "chat" | "messages";

export interface Turn {
  role: "user" | "assistant";
  text: string;
  /** What the model thought before it written, where it tells. */
  thinking?: string;
}

export interface TextForm {
  system: string;
  /** Null leaves it to the model where the protocol allows that. */
  maxTokens: number | null;
  /** Null leaves it to the model. */
  temperature: number | null;
}

export const EMPTY_TEXT_FORM: TextForm = { system: "", maxTokens: 1024, temperature: null };

/** What is reported while an reply comes; texts are what has been added. */
export interface Piece {
  text?: string;
  thinking?: string;
  /** Tokens so far; cached ones count as input. */
  input?: number;
  output?: number;
  /** Why it ended, in the protocol's word. */
  stop?: string;
}

const MIN_MAX_TOKENS = 1024;

/** The streamed request that the conversation so far makes of a model. */
export function textCall(
  protocol: Protocol,
  model: PlaygroundModel,
  { system, maxTokens, temperature }: TextForm,
  turns: readonly Turn[],
): GatewayCall {
  const messages = turns.map(({ role, text }) => ({ role, content: text }));
  const options = { stream: true, ...(temperature !== null && { temperature }) };
  if (protocol === "messages") {
    // The protocol requires a maximum.
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

/** Sends the request and reports the reply as it comes. Throws a `GatewayFailure`, also in the middle of a stream. */
export async function streamReply(
  keyId: string,
  call: GatewayCall,
  signal: AbortSignal,
  report: { began(requestId: string | null): void; came(piece: Piece): void },
): Promise<void> {
  const response = await callGateway(keyId, call, signal);
  const requestId = requestIdOf(response);
  report.began(requestId);
  if (!response.body) return;
  for await (const { data } of readEvents(response.body)) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data) as WireEvent;
    if (event.error) throw failureOf(response.status, requestId, event);
    report.came(event.type === undefined ? readChunk(event) : readMessageEvent(event));
  }
}

interface WireUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

/** What is read of the events of both protocols. */
interface WireEvent {
  type?: string;
  error?: object;
  choices?: {
    delta?: { content?: string | null; reasoning_content?: string | null };
    finish_reason?: string | null;
  }[];
  usage?: WireUsage | null;
  message?: { usage?: WireUsage };
  delta?: { text?: string; thinking?: string; stop_reason?: string | null };
}

function readChunk({ choices, usage }: WireEvent): Piece {
  const [choice] = choices ?? [];
  return {
    ...(choice?.delta?.content && { text: choice.delta.content }),
    ...(choice?.delta?.reasoning_content && { thinking: choice.delta.reasoning_content }),
    ...(choice?.finish_reason && { stop: choice.finish_reason }),
    ...(usage && { input: usage.prompt_tokens ?? 0, output: usage.completion_tokens ?? 0 }),
  };
}

function readMessageEvent({ message, usage, delta }: WireEvent): Piece {
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
