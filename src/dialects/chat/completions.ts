import { GatewayError } from "../../domain/gateway-error.ts";
import { parseBounded } from "../../lib/parse-json.ts";
import { isObject } from "../../lib/json.ts";
import { frameData, FrameSplitter } from "../../lib/sse.ts";
import {
  boolean,
  checkTypes,
  type FieldChecks,
  knownNames,
  number,
  object,
  positive,
  refuseCaseVariants,
  requestSchema,
  STREAM_DESCRIPTION,
  text,
  textOrTexts,
  wrongType,
} from "../fields.ts";
import { readBody } from "../request-body.ts";
import { type ChatPayload, readRequest } from "./request.ts";

/** A request of the completions protocol. `payload` is the same request as a chat with one user message. */
export interface Completion {
  payload: ChatPayload;
  /** The text of the request, as the caller sent it. */
  raw: string;
  /** True when the caller's stream must end with a usage chunk. */
  showsUsage: boolean;
}

const FIELDS: FieldChecks = [
  ["max_tokens", positive],
  ["n", positive],
  ["temperature", number],
  ["top_p", number],
  ["stop", textOrTexts],
  ["stream", boolean, STREAM_DESCRIPTION],
  ["stream_options", object],
];

/** The published schema of a request for a completion. */
export const completionsSchema = requestSchema(
  FIELDS,
  {
    model: text.schema,
    prompt: { anyOf: [text.schema, { type: "array", items: text.schema, minItems: 1, maxItems: 1 }] },
  },
  ["model", "prompt"],
);

/** Fields that are refused. Each list has the allowed values, which request nothing. */
const REFUSED: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["suffix", [""]],
  ["echo", [false]],
  ["best_of", [1]],
  ["logprobs", []],
  ["messages", []],
  ["tools", []],
  ["functions", []],
]);

/** Maximum number of fields. Rewriting the body as a chat request takes too long with thousands of fields. */
const MAX_FIELDS = 1_000;

const NAMES = knownNames(["model", "prompt", "provider", ...REFUSED.keys(), ...FIELDS.map(([name]) => name)]);

/**
 * Reads a request of the completions protocol (OpenAI reference, "Completions") and converts it to a chat request.
 * Throws a `GatewayError`, which names the field to change if there is one.
 */
export function readCompletion(bytes: Uint8Array): Completion {
  const { body, raw } = readBody(bytes, []);
  if (Object.keys(body).length > MAX_FIELDS)
    throw new GatewayError("invalid_request_body", `A completion may have at most ${MAX_FIELDS} fields.`);
  refuseCaseVariants(body, NAMES);
  checkTypes(body, FIELDS);
  const rest: Record<string, unknown> = { ...body };
  for (const [name, neutral] of REFUSED) {
    const value = rest[name] ?? null;
    delete rest[name];
    if (value === null || neutral.includes(value)) continue;
    const message = `\`${name}\` is not offered with completions. Leave it out, or call \`/v1/chat/completions\`.`;
    throw new GatewayError("unsupported_parameter", message, { param: name });
  }
  const { prompt, stream_options: options, ...others } = rest;
  const content = readPrompt(prompt);
  const chat = { ...others, messages: [{ role: "user", content }] };
  const showsUsage = isObject(options) && options["include_usage"] === true;
  return { payload: readRequest(Buffer.from(JSON.stringify(chat))), raw, showsUsage };
}

function readPrompt(prompt: unknown): string {
  const only: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof only === "string" && only !== "") return only;
  if (only === undefined || only === null || only === "")
    throw new GatewayError("prompt_required", "Set `prompt` to a text.", { param: "prompt" });
  if (!Array.isArray(only)) throw wrongType("prompt", "a string or an array of one string");
  const message = "`prompt` is one text here. Send a request for each, and texts instead of tokens.";
  throw new GatewayError("unsupported_parameter", message, { param: "prompt" });
}

/** Converts a whole chat reply to a completion. */
export function writeCompletion(reply: string): string {
  const parsed = parseBounded(reply);
  return JSON.stringify(completionOf(isObject(parsed) ? parsed : {}));
}

/** Converts a whole chat reply, or a chunk, to the form of a completion. */
function completionOf(reply: Record<string, unknown>): object {
  const { id, created, model, choices, usage } = reply;
  const written = (Array.isArray(choices) ? choices.filter(isObject) : []).map((choice, index) => ({
    text: textOf(choice["message"] ?? choice["delta"]),
    index: choice["index"] ?? index,
    logprobs: null,
    finish_reason: choice["finish_reason"] ?? null,
  }));
  const ownId = typeof id === "string" ? id.replace(/^chatcmpl-/, "cmpl-") : id;
  return {
    id: ownId,
    object: "text_completion",
    created,
    model,
    choices: written,
    ...(usage != null && { usage }),
  };
}

function textOf(message: unknown): string {
  const written = isObject(message) ? (message["content"] ?? message["refusal"]) : null;
  return typeof written === "string" ? written : "";
}

/** A comment, which clients skip. Replaces a chunk without an equivalent, so that the stream is not silent. */
const COMMENT = ":\n\n";
const END = "[DONE]";

/** Converts chat events to completion events. Comments, errors and `[DONE]` stay unchanged. */
export function asCompletionEvents(
  events: ReadableStream<Uint8Array>,
  { showsUsage }: Pick<Completion, "showsUsage">,
): ReadableStream<Uint8Array> {
  const splitter = new FrameSplitter();
  const reader = events.getReader();
  const write = (frame: Uint8Array): string => {
    const data = frameData(frame);
    if (data === null || data === "" || data === END) return Buffer.from(frame).toString();
    const chunk = parseBounded(data);
    if (!isObject(chunk) || chunk["error"]) return Buffer.from(frame).toString();
    return isShown(chunk, showsUsage) ? `data: ${JSON.stringify(completionOf(chunk))}\n\n` : COMMENT;
  };
  return new ReadableStream({
    async pull(client) {
      // Reads until there is a whole event, because the runtime does not call `pull` again if nothing was enqueued.
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const written = splitter.push(value).map(write).join("");
        if (written !== "") return client.enqueue(Buffer.from(written));
      }
      const rest = splitter.end();
      if (rest.length > 0) client.enqueue(Buffer.from(write(rest)));
      client.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** True for a chunk with text or the end of a choice. A usage chunk is shown if the caller requested usage. */
function isShown({ choices, usage }: Record<string, unknown>, showsUsage: boolean): boolean {
  const list = Array.isArray(choices) ? choices.filter(isObject) : [];
  if (list.length === 0) return showsUsage && usage != null;
  return list.some(({ delta, finish_reason: end }) => textOf(delta) !== "" || (end ?? null) !== null);
}
