import type { TextResponse, TextCall, TextUpstream } from "../../gateway/ports.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { readConversation } from "./conversation.ts";
import { composeReply } from "./reply.ts";
import { pause, streamFrames } from "./stream.ts";
import { writeFrames, writeWhole } from "./wire.ts";

const MS_PER_SECOND = 1000;

/**
 * Answers chat completions by itself: the same body gives the same words, streamed or not, with token counts of
 * what was really read and written. Throws `rejected` for a body that no vendor would take.
 */
export function createSandboxTextUpstream(settings: { tokensPerSecond?: number | undefined }): TextUpstream {
  return { dialect: "chat", send: (call) => send(call, settings.tokensPerSecond) };
}

async function send(call: TextCall, tokensPerSecond: number | undefined): Promise<TextResponse> {
  const { signal } = call;
  signal.throwIfAborted();
  const body = readBody(call.payload.raw);
  const conversation = readConversation(body);
  const reply = composeReply(conversation, fingerprintOf(body));
  if (conversation.isStream) {
    const stream = streamFrames(writeFrames(reply), { framesPerSecond: tokensPerSecond, signal });
    return { kind: "stream", stream };
  }
  if (tokensPerSecond !== undefined) {
    await pause((reply.usage.completion / tokensPerSecond) * MS_PER_SECOND, signal);
  }
  return { kind: "whole", text: writeWhole(reply) };
}

/** The request as a vendor would see it: its text, in which the vendor's model name is already in place. */
function readBody(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch (cause) {
    const publicMessage = "The request body is not valid JSON.";
    throw new UpstreamError("rejected", publicMessage, { status: 400, publicMessage, cause });
  }
}

/** Everything but how the answer is to be sent. */
function fingerprintOf(body: unknown): string {
  if (!isObject(body)) return "";
  const { stream: _stream, stream_options: _options, ...rest } = body;
  return JSON.stringify(rest);
}
