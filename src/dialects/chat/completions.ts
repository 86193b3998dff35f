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

/** A completion of a text, as a chat of one user message. */
export interface Completion {
  payload: ChatPayload;
  /** The request as it was sent. */
  raw: string;
  /** True where a stream ends with a chunk of usage. */
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

/** The published schema of a request. */
export const completionsSchema = requestSchema(
  FIELDS,
  {
    model: text.schema,
    prompt: { anyOf: [text.schema, { type: "array", items: text.schema, minItems: 1, maxItems: 1 }] },
  },
  ["model", "prompt"],
);

/** Fields that a chat has no counterpart of, each with the values that ask for nothing. */
const REFUSED: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["suffix", [""]],
  ["echo", [false]],
  ["best_of", [1]],
  ["logprobs", []],
  ["messages", []],
  ["tools", []],
  ["functions", []],
]);

/** The body is written anew as that of a chat, which takes long with many thousand fields. */
const MAX_FIELDS = 1_000;

const NAMES = knownNames(["model", "prompt", "provider", ...REFUSED.keys(), ...FIELDS.map(([name]) => name)]);

/**
 * Reads a request of the completions protocol (OpenAI reference, "Completions"), which models of today take as a chat.
 * Throws a `GatewayError` that names the field to change.
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

/** Writes the whole reply to a chat as that of a completion. */
export function writeCompletion(reply: string): string {
  const parsed = parseBounded(reply);
  return JSON.stringify(completionOf(isObject(parsed) ? parsed : {}));
}

/** Returns a chat's reply, or a chunk of it, in the form of a completion. */
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

/** A frame that clients skip, in place of one that has no counterpart: the stream is never silent for it. */
const COMMENT = ":\n\n";
const END = "[DONE]";

/** Turns the events of a chat into those of a completion. Comments, errors and the end mark stay as they are. */
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
      // The runtime does not pull again after a pull that enqueues nothing, so this reads on until an event is whole.
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

/** True for a chunk with text or an end, and for that of usage where the caller asks for it. */
function isShown({ choices, usage }: Record<string, unknown>, showsUsage: boolean): boolean {
  const list = Array.isArray(choices) ? choices.filter(isObject) : [];
  if (list.length === 0) return showsUsage && usage != null;
  return list.some(({ delta, finish_reason: end }) => textOf(delta) !== "" || (end ?? null) !== null);
}
