import { PUBLIC_MODEL, STREAM_FRAMES, UPSTREAM_MODEL } from "./chat-samples.ts";
import { headerOf } from "./http-message.ts";
import type { Reply } from "./client-connection.ts";

/**
 * Checks that the baseline server (floor) and the gateway send equal responses. Both must send status 200, equal media
 * types and, except for the model's name, equal bytes. Throws an error that describes the first difference.
 */
export function assertSameReply(floor: Reply, gateway: Reply): void {
  expectEqual("status of the floor", floor.status, 200);
  expectEqual("status", gateway.status, floor.status);
  expectEqual("content type", mediaTypeOf(gateway), mediaTypeOf(floor));
  const expected = floor.body.replaceAll(`"model":"${UPSTREAM_MODEL}"`, `"model":"${PUBLIC_MODEL}"`);
  if (gateway.body === expected) return;
  const at = [...expected].findIndex((character, index) => gateway.body[index] !== character);
  const from = Math.max(0, at - 60);
  throw new Error(
    `The gateway's bytes differ from the upstream's at ${at}:\n` +
      `  upstream: ${JSON.stringify(expected.slice(from, at + 60))}\n` +
      `  gateway:  ${JSON.stringify(gateway.body.slice(from, at + 60))}`,
  );
}

/** Checks that a stream has all frames, one usage chunk directly before `[DONE]`, and nothing after `[DONE]`. */
export function assertCompleteStream(reply: Reply): void {
  const frames = reply.body.split("\n\n").filter((frame) => frame.startsWith("data: "));
  expectEqual("frames", frames.length, STREAM_FRAMES);
  expectEqual("last frame", frames.at(-1), "data: [DONE]");
  const withUsage = frames.slice(0, -1).filter((frame) => JSON.parse(frame.slice("data: ".length)).usage);
  expectEqual("usage chunks", withUsage.length, 1);
  expectEqual("place of the usage chunk", frames.indexOf(withUsage[0]!), frames.length - 2);
}

/**
 * Checks that another gateway's response has the upstream's text, finish reasons, usage and number of frames with text.
 * A stream must end with `[DONE]`. JSON may be formatted differently. `isSameBytes` is true when all bytes except the
 * model's name are equal.
 */
export function assertWhole(upstream: Reply, other: Reply): { isSameBytes: boolean } {
  expectEqual("status", other.status, 200);
  expectEqual("content type", mediaTypeOf(other), mediaTypeOf(upstream));
  const expected = contentOf(upstream);
  for (const [what, found] of Object.entries(contentOf(other))) expectEqual(what, found, expected[what]);
  const withoutModel = ({ body }: Reply): string => body.replaceAll(/"model":"[^"]*"/g, "");
  return { isSameBytes: withoutModel(other) === withoutModel(upstream) };
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`Not equivalent: ${what} is ${found}, expected ${expected}`);
}

function mediaTypeOf(reply: Reply): string | undefined {
  return headerOf(reply.head, "content-type")?.split(";")[0];
}

/** Returns the values of a response that a caller uses. */
function contentOf(reply: Reply): Record<string, string | number | undefined> {
  const isStream = mediaTypeOf(reply) === "text/event-stream";
  const frames = isStream ? dataOf(reply) : [reply.body];
  const isDone = frames.at(-1) === "[DONE]";
  const chunks = frames.filter((frame) => frame !== "[DONE]").map((frame): Chunk => JSON.parse(frame));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const texts = choices.flatMap(({ message, delta }) => (message ?? delta)?.content || []);
  const ends = choices.flatMap(({ finish_reason }) => finish_reason ?? []);
  const usages = chunks.flatMap(({ usage }) => usage ?? []);
  return {
    text: texts.join(""),
    "pieces of text": texts.length,
    end: ends.join(),
    usage: usages.map((usage) => [usage.prompt_tokens, usage.completion_tokens].join("+")).join(),
    "last frame": isDone ? "[DONE]" : undefined,
  };
}

interface Chunk {
  choices: { message?: { content?: string }; delta?: { content?: string }; finish_reason: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
}

/** Returns the data of a stream's events, without comments. */
function dataOf({ body }: Reply): string[] {
  return body
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data:") ? line.slice("data:".length).trim() : []));
}
