import type { TextResponse, TextCall, TextUpstream } from "../../gateway/upstreams.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { sleep } from "../../lib/waiting.ts";
import { readConversation } from "./conversation.ts";
import { FORMATS, type SandboxFormat } from "./formats.ts";
import { composeReply } from "./reply.ts";
import { streamFrames } from "./stream.ts";
import { writeFrames, writeCompletion } from "./wire.ts";

const MS_PER_SECOND = 1000;

/**
 * Returns upstreams that complete chats without a vendor. Equal bodies result in equal words, as a stream or as a
 * whole, with exact token counts. The upstreams throw a `rejected` error for a body that no vendor would accept.
 */
export function createSandboxTextUpstreams(settings: {
  tokensPerSecond?: number | undefined;
}): TextUpstream[] {
  const { tokensPerSecond } = settings;
  return [
    { dialect: "chat", send: (call) => send(call, tokensPerSecond) },
    ...FORMATS.map((format) => upstreamOf(format, tokensPerSecond)),
  ];
}

function upstreamOf(
  { name, reply, count }: SandboxFormat,
  tokensPerSecond: number | undefined,
): TextUpstream {
  return {
    dialect: name,
    send: (call) => sendFormatted(reply, call, tokensPerSecond),
    ...(count && { countTokens: async (call) => count(wellFormed(call)) }),
  };
}

async function sendFormatted(
  reply: SandboxFormat["reply"],
  call: TextCall,
  tokensPerSecond: number | undefined,
): Promise<TextResponse> {
  const { isStream, signal } = call;
  signal.throwIfAborted();
  const { frames, whole, outputTokens } = reply(wellFormed(call));
  if (isStream) {
    return { kind: "stream", stream: streamFrames(frames(), { framesPerSecond: tokensPerSecond, signal }) };
  }
  if (tokensPerSecond !== undefined) await sleep((outputTokens / tokensPerSecond) * MS_PER_SECOND, signal);
  return { kind: "whole", text: whole() };
}

/** Returns the call with a body that contains no half characters (lone surrogates). */
function wellFormed(call: TextCall): TextCall {
  return LONE_SURROGATE.test(call.raw) ? { ...call, raw: JSON.stringify(readBody(call.raw)) } : call;
}

async function send(call: TextCall, tokensPerSecond: number | undefined): Promise<TextResponse> {
  const { signal } = call;
  signal.throwIfAborted();
  const body = readBody(call.raw);
  const conversation = readConversation(body);
  const reply = composeReply(conversation);
  if (conversation.isStream) {
    const stream = streamFrames(writeFrames(reply), { framesPerSecond: tokensPerSecond, signal });
    return { kind: "stream", stream };
  }
  if (tokensPerSecond !== undefined) {
    await sleep((reply.usage.completion / tokensPerSecond) * MS_PER_SECOND, signal);
  }
  return { kind: "whole", text: writeCompletion(reply) };
}

/** Parses the request body. The body already contains the upstream's model name. */
function readBody(raw: string): unknown {
  try {
    return LONE_SURROGATE.test(raw) ? JSON.parse(raw, (_key, value) => toWellFormed(value)) : JSON.parse(raw);
  } catch (cause) {
    const publicMessage = "The request body is not valid JSON in UTF-8.";
    throw new UpstreamError("rejected", "the sandbox does not take this request", {
      status: 400,
      publicMessage,
      cause,
    });
  }
}

/** Matches an escape sequence that may be a lone surrogate. Many JSON parsers fail on a reply with a lone surrogate. */
const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

function toWellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (!isObject(value) || Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key.toWellFormed(), entry]));
}
