import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { countTokens } from "./tokens.ts";

/** The parts of a request that the sandbox reads, in any protocol. The sandbox ignores all other parts. */
export interface Conversation {
  model: string;
  isStream: boolean;
  /** Number of choices: the field `n` of chat completions; 1 in other protocols. */
  choices: number;
  /** Maximum number of output tokens of one choice, with the reasoning tokens. */
  limit: number;
  stops: string[];
  effort: string | null;
  promptTokens: number;
  /** Text of the last user message. */
  question: string;
  /** Number of pictures and files in the last user message. */
  attachments: number;
  /** The tool results at the end of the messages; null when the last message is not a tool result. */
  toolResult: string | null;
  /** The tool that the reply must call; null for a reply without a tool call. */
  tool: Tool | null;
  format: { kind: "text" } | { kind: "json"; schema: unknown };
}

export interface Tool {
  name: string;
  /** JSON Schema of the arguments; null for a function without arguments. */
  parameters: unknown;
}

/** Maximum number of output tokens that the sandbox generates for one choice. */
export const MAX_OUTPUT_TOKENS = 8192;

const MAX_CHOICES = 128;
export const TOKENS_PER_ATTACHMENT = 256;
/** Minimum number of prompt tokens. Vendors also count at least one token for a request without text. */
const MIN_PROMPT_TOKENS = 1;

/** Reads the parsed body of a request. Throws a `rejected` error for a body that no vendor would accept. */
export function readConversation(body: unknown): Conversation {
  if (!isObject(body)) throw rejected("The request body must be a JSON object.");
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : [];
  const last = messages.at(-1);
  if (!last) throw rejected("`messages` must hold at least one message.", "messages");
  const choices = integer(body["n"]) ?? 1;
  if (choices < 1 || choices > MAX_CHOICES) throw rejected(`\`n\` must be from 1 to ${MAX_CHOICES}.`, "n");
  const limit = integer(body["max_completion_tokens"]) ?? integer(body["max_tokens"]) ?? MAX_OUTPUT_TOKENS;
  const requested = messages.findLast((message) => message["role"] === "user") ?? last;
  const effort = body["reasoning_effort"];
  const tools = functionTools(body["tools"]);
  return {
    model: typeof body["model"] === "string" ? body["model"] : "",
    isStream: body["stream"] === true,
    choices,
    limit: Math.max(1, Math.min(limit, MAX_OUTPUT_TOKENS)),
    stops: stopsOf(body["stop"]),
    effort: typeof effort === "string" ? effort : null,
    promptTokens: Math.max(MIN_PROMPT_TOKENS, countPromptTokens(messages, body["tools"])),
    question: textOf(requested["content"]).trim(),
    attachments: attachmentsOf(requested["content"]),
    toolResult: last["role"] === "tool" ? trailingResults(messages) : null,
    tool: last["role"] === "user" ? chosenTool(tools, body["tool_choice"]) : null,
    format: readFormat(body["response_format"]),
  };
}

/**
 * Returns the number of tokens that the model would read: the tokens of all texts, tool calls and tool definitions,
 * plus a fixed number for each attachment.
 */
function countPromptTokens(messages: readonly Record<string, unknown>[], tools: unknown): number {
  let count = 0;
  for (const message of messages) {
    const { content, tool_calls: calls } = message;
    count += countTokens(textOf(content)) + attachmentsOf(content) * TOKENS_PER_ATTACHMENT;
    for (const call of listOf(calls)) count += countTokens(JSON.stringify(call["function"]) ?? "");
  }
  for (const tool of listOf(tools)) count += countTokens(JSON.stringify(tool["function"]) ?? "");
  return count;
}

function stopsOf(value: unknown): string[] {
  const stops: unknown[] = Array.isArray(value) ? value : [value];
  return stops.filter((stop) => typeof stop === "string").filter((stop) => stop !== "");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = listOf(content).map((part) => part["text"] ?? part["refusal"]);
  return texts.filter((text) => typeof text === "string").join("\n");
}

function attachmentsOf(content: unknown): number {
  return listOf(content).filter(({ type }) => type !== "text" && type !== "refusal").length;
}

function trailingResults(messages: readonly Record<string, unknown>[]): string {
  const start = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages
    .slice(start)
    .map(({ content }) => textOf(content).trim())
    .join("\n");
}

function functionTools(value: unknown): Tool[] {
  return listOf(value).flatMap(({ function: definition }) => {
    if (!isObject(definition) || typeof definition["name"] !== "string") return [];
    return [{ name: definition["name"], parameters: definition["parameters"] ?? null }];
  });
}

/**
 * Returns the requested tool, otherwise the first allowed tool. Null when there is no tool, or the reply must not call
 * one.
 */
function chosenTool(tools: readonly Tool[], choice: unknown): Tool | null {
  if (choice === "none") return null;
  if (!isObject(choice)) return tools[0] ?? null;
  const allowed = isObject(choice["allowed_tools"]) ? listOf(choice["allowed_tools"]["tools"]) : [choice];
  const names = new Set(allowed.map(({ function: named }) => (isObject(named) ? named["name"] : undefined)));
  const tool = tools.find(({ name }) => names.has(name));
  if (tool) return tool;
  throw rejected("`tool_choice` names a function that is not among `tools`.", "tool_choice");
}

function readFormat(value: unknown): Conversation["format"] {
  if (!isObject(value)) return { kind: "text" };
  if (value["type"] === "json_object") return { kind: "json", schema: value["schema"] ?? null };
  if (value["type"] !== "json_schema") return { kind: "text" };
  const named = value["json_schema"];
  return { kind: "json", schema: isObject(named) ? (named["schema"] ?? {}) : {} };
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function integer(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

/** Returns the error for a request that no vendor would accept. */
export function rejected(publicMessage: string, param?: string): UpstreamError {
  return new UpstreamError("rejected", "the sandbox does not take this request", {
    status: 400,
    publicMessage,
    param,
  });
}
