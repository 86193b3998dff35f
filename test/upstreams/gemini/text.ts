import { isObject } from "../../../src/lib/json.ts";
import type { Behaviour } from "../behaviour.ts";
import type { ReceivedRequest, SimulatedResponse } from "../http-server.ts";
import type { HttpExchange } from "../simulator.ts";
import { sendFrames, sendJson } from "../transport.ts";
import { invalid, refuse } from "./refusals.ts";
import { Refused } from "./text-contents.ts";
import { textFrames, type TextReply } from "./text-frames.ts";
import { TEXT_MODELS } from "./text-models.table.ts";
import { readTextRequest, type ParsedTextRequest } from "./text-rules.ts";

export interface TextCall {
  request: ReceivedRequest;
  response: SimulatedResponse;
  exchange: HttpExchange;
  model: string;
  method: string;
  isVertex: boolean;
}

const SIGNATURE = Buffer.from("simulated-signature").toString("base64");
const THOUGHT_TOKENS = 30;

/** Handles text by `generateContent`, `streamGenerateContent` and `countTokens` (Gemini API reference). */
export async function handleText(call: TextCall): Promise<void> {
  await refusing(call, () => (call.method === "countTokens" ? countTokens(call) : generate(call)));
}

/** Runs a handler. If the handler throws `Refused`, sends the error. */
export async function refusing(
  { response }: Pick<TextCall, "response">,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    await handle();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await refuse(response, error.refusal);
  }
}

async function generate({ request, response, exchange, model, method, isVertex }: TextCall): Promise<void> {
  const isStream = method === "streamGenerateContent";
  const query = [...request.query].map(([name, value]) => `${name}=${value}`).join("&");
  if (query !== (isStream ? "alt=sse" : "")) throw new Refused(invalid("Unexpected query."));
  const parsed = read(bodyOf(request), model, isVertex);
  const { behaviour } = exchange.hit;
  const reply = composeReply(parsed, model, behaviour);
  if (isStream && behaviour.fault !== "json-for-stream") {
    const isWhole = await sendFrames(response, textFrames(reply, behaviour), behaviour);
    if (isWhole && reply.usage !== undefined) exchange.reportUsage(reply.usage);
    return;
  }
  const error = { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" };
  const body = behaviour.fault === "error-in-200" ? { error } : wholeOf(reply);
  await sendJson(response, 200, behaviour.fault === "choices-missing" ? {} : body, behaviour);
  if (response.isFinished && reply.usage !== undefined) exchange.reportUsage(reply.usage);
}

async function countTokens({ request, response, model, isVertex }: TextCall): Promise<void> {
  const body = bodyOf(request);
  const inner = body["generateContentRequest"];
  if (isVertex === isObject(inner)) throw new Refused(invalid("Unknown name: Cannot find field."));
  const { model: named, ...asked } = isObject(inner) ? inner : body;
  if (isObject(inner) && named !== `models/${model}`)
    throw new Refused(invalid("The model differs from the path's."));
  const { promptTokens } = read(asked, model, isVertex);
  const details = [{ modality: "TEXT", tokenCount: promptTokens }];
  await sendJson(response, 200, { totalTokens: promptTokens, promptTokensDetails: details });
}

function bodyOf(request: ReceivedRequest): Record<string, unknown> {
  if (request.headers["content-type"] !== "application/json")
    throw new Refused(invalid("Invalid content type: application/json is expected."));
  return Object(JSON.parse(request.body.toString("utf8")));
}

function read(body: Record<string, unknown>, model: string, isVertex: boolean): ParsedTextRequest {
  const isOwnSignature = (value: unknown) => value === SIGNATURE;
  return readTextRequest(body, TEXT_MODELS[model]!, { isVertex, isOwnSignature });
}

function composeReply(parsed: ParsedTextRequest, model: string, behaviour: Behaviour): TextReply {
  const isLevel = TEXT_MODELS[model]!.thinking === "level";
  const thoughts = parsed.isThinking ? THOUGHT_TOKENS : 0;
  const left = Math.max(0, parsed.maxTokens - thoughts);
  const tokens = Math.min(behaviour.tokens ?? 8, left);
  const calls = behaviour.calls?.map(({ name, arguments: args }) => ({ name, args })) ?? chooseCalls(parsed);
  const isCut = calls.length === 0 && (behaviour.tokens ?? 8) > left;
  const text = calls.length > 0 ? "" : (behaviour.text ?? answerOf(parsed, tokens));
  const blocked = behaviour.fault === "content-refused" ? (behaviour.text ?? "SAFETY") : "";
  const isPromptBlocked = blocked.startsWith("prompt:");
  const delivered = blocked === "" ? tokens : 0;
  return {
    model,
    thought: parsed.showsThoughts && parsed.isThinking ? "Let me think." : "",
    pieces: blocked === "" ? cut(text, behaviour.frames ?? Math.max(1, tokens)) : [],
    calls: calls.map((call, index) => ({
      functionCall: {
        ...(isLevel && { id: `sim${behaviour.calls ? crypto.randomUUID() : index}` }),
        ...call,
      },
      ...(isLevel && index === 0 && { thoughtSignature: SIGNATURE }),
    })),
    signature: isLevel ? SIGNATURE : null,
    blockReason: isPromptBlocked ? blocked.slice("prompt:".length) : null,
    finish: blocked !== "" ? blocked : isCut ? "MAX_TOKENS" : "STOP",
    usage: usageOf({ prompt: parsed.promptTokens, candidates: delivered, thoughts }, behaviour),
  };
}

/**
 * Calls the first allowed function when the last content is a user's question, and twice if the text contains "both".
 * The mode `NONE` allows no call.
 */
function chooseCalls({
  functions,
  contents,
  mode,
  allowed,
}: ParsedTextRequest): { name: string; args: Readonly<Record<string, unknown>> }[] {
  const last = contents.at(-1);
  const texts = last?.parts.map(({ text }) => String(text ?? "")).join(" ") ?? "";
  const isAsked =
    last?.role === "user" && last.parts.every(({ functionResponse }) => functionResponse === undefined);
  const first = functions.find(({ name }) => allowed?.includes(name) ?? true);
  if (!first || mode === "NONE" || !isAsked) return [];
  const { required } = first.parameters;
  const names = Array.isArray(required) ? required.map(String) : [];
  const args = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
  const calls = [{ name: first.name, args: args("value") }];
  return texts.includes("both") ? [...calls, { name: first.name, args: args("other") }] : calls;
}

function answerOf({ required }: ParsedTextRequest, tokens: number): string {
  if (required) return JSON.stringify(Object.fromEntries(required.map((name) => [name, "value"])));
  return Array.from({ length: tokens }, (_, index) => `word${index} `).join("");
}

function cut(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  return text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
}

function wholeOf({
  model,
  thought,
  pieces,
  calls,
  signature,
  blockReason,
  finish,
  usage,
}: TextReply): object {
  const end = { usageMetadata: usage, modelVersion: model, responseId: "simulated1" };
  if (blockReason !== null) return { promptFeedback: { blockReason }, ...end };
  const signed = calls.length === 0 && signature !== null ? { thoughtSignature: signature } : {};
  const parts = [
    ...(thought === "" ? [] : [{ text: thought, thought: true }]),
    ...(pieces.length > 0 ? [{ text: pieces.join(""), ...signed }] : []),
    ...calls,
  ];
  const content = parts.length > 0 ? { role: "model", parts } : { role: "model" };
  return { candidates: [{ content, finishReason: finish, index: 0 }], ...end };
}

/** Counts of zero are omitted, as everywhere in this protocol. */
function usageOf(
  { prompt, candidates, thoughts }: { prompt: number; candidates: number; thoughts: number },
  behaviour: Behaviour,
): unknown {
  if (behaviour.fault === "no-usage") return undefined;
  if ("usage" in behaviour) return behaviour.usage;
  return {
    promptTokenCount: prompt,
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    totalTokenCount: prompt + candidates + thoughts,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  };
}
