/** Chat requests and responses. Load generator and mock import this file, so that both programs use equal bytes. */

/** The model's public and upstream name. Their lengths differ, so that replacing the name moves bytes. */
export const PUBLIC_MODEL = "bench-chat";
export const UPSTREAM_MODEL = "mock-chat-2026-01-01";

export const STREAM_TOKENS = 100;

/** Number of server-sent events in a stream with usage: the tokens, the finish reason, the usage and `[DONE]`. */
export const STREAM_FRAMES = STREAM_TOKENS + 3;

export interface ChatRequestOptions {
  model: string;
  stream?: boolean;
  /** Requests the usage chunk by `stream_options`. */
  includeUsage?: boolean;
  /** Milliseconds between the mock's frames. Sent in the field `user`, because every server forwards that field. */
  paceMs?: number;
  /** Length of the body in bytes; 1 KB by default. */
  bytes?: number;
}

/** Returns the body of a chat request. The prompt is lengthened until the body has the requested length. */
export function chatRequestBody(options: ChatRequestOptions): string {
  const body = {
    model: options.model,
    messages: [
      { role: "system", content: "You are a careful assistant who answers in plain sentences." },
      { role: "user", content: "" },
    ],
    temperature: 0.7,
    max_tokens: 256,
    user: `pace-ms=${options.paceMs ?? 0}`,
    ...(options.stream && { stream: true }),
    ...(options.includeUsage && { stream_options: { include_usage: true } }),
  };
  body.messages[1]!.content = proseOf((options.bytes ?? 1024) - JSON.stringify(body).length);
  return JSON.stringify(body);
}

/** Reads the requested milliseconds between frames from `user`. */
export function paceOf(user: unknown): number {
  const pace = typeof user === "string" ? /^pace-ms=(\d+)$/.exec(user)?.[1] : undefined;
  return Number(pace ?? 0);
}

/** Returns the mock's complete response, 1 KB of JSON. */
export function chatReplyBody(): string {
  const reply = {
    id: "chatcmpl-bench0001",
    object: "chat.completion",
    created: 1_767_225_600,
    model: UPSTREAM_MODEL,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "", refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: USAGE,
    service_tier: "default",
    system_fingerprint: "fp_bench0001",
  };
  reply.choices[0]!.message.content = proseOf(1024 - JSON.stringify(reply).length);
  return JSON.stringify(reply);
}

/** Returns the mock's streamed response, one string for each server-sent event. */
export function streamFrames(includeUsage: boolean): string[] {
  const frames: string[] = [];
  for (let token = 0; token < STREAM_TOKENS; token++) {
    const delta = token === 0 ? { role: "assistant", content: "So" } : { content: ` word${token}` };
    frames.push(
      streamFrame([{ index: 0, delta, logprobs: null, finish_reason: null }], includeUsage && null),
    );
  }
  const last = [{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }];
  frames.push(streamFrame(last, includeUsage && null));
  if (includeUsage) frames.push(streamFrame([], USAGE));
  frames.push("data: [DONE]\n\n");
  return frames;
}

const USAGE = {
  prompt_tokens: 214,
  completion_tokens: STREAM_TOKENS,
  total_tokens: 214 + STREAM_TOKENS,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

function streamFrame(choices: unknown[], usage: typeof USAGE | null | false): string {
  const chunk = {
    id: "chatcmpl-bench0001",
    object: "chat.completion.chunk",
    created: 1_767_225_600,
    model: UPSTREAM_MODEL,
    service_tier: "default",
    system_fingerprint: "fp_bench0001",
    choices,
    ...(usage !== false && { usage }),
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function proseOf(length: number): string {
  const sentence = "The quick brown fox explains to the lazy dog why queues grow when nobody reads them. ";
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length);
}
