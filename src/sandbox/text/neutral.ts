import type {
  AssistantPart,
  Conversation as NeutralConversation,
  Tool as NeutralTool,
  ToolResult,
  UserPart,
} from "../../dialects/conversation/request.ts";
import { effortOf } from "../../dialects/conversation/reasoning.ts";
import { rejected, MAX_OUTPUT_TOKENS, TOKENS_PER_ATTACHMENT, type Conversation } from "./conversation.ts";
import { countTokens } from "./tokens.ts";

type Part = UserPart | AssistantPart;

/** Converts a conversation of a protocol other than chat completions to the form that the sandbox reads. */
export function fromNeutral(neutral: NeutralConversation, model: string): Conversation {
  const { turns, maxTokens, stop, format, reasoning, isStream } = neutral;
  const parts: readonly Part[] = turns.findLast(({ role }) => role !== "system")?.parts ?? [];
  const results = parts.filter((part) => part.type === "tool_result");
  const lastQuestion = turns.findLast(({ role, parts }) => role === "user" && parts.some(isOwn));
  const isQuestion = turns.at(-1)?.role === "user" && results.length === 0;
  return {
    model,
    isStream,
    choices: 1,
    limit: Math.max(1, Math.min(maxTokens ?? MAX_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS)),
    stops: stop.filter((each) => each !== ""),
    effort: reasoning && (effortOf(reasoning) ?? DEFAULT_EFFORT),
    promptTokens: countPrompt(neutral),
    question: textOf(lastQuestion?.parts ?? []).trim(),
    attachments: (lastQuestion?.parts ?? []).filter(isAttachment).length,
    toolResult: results.length > 0 ? results.map(resultText).join("\n") : null,
    tool: isQuestion ? chosenTool(neutral) : null,
    format:
      format === null
        ? { kind: "text" }
        : { kind: "json", schema: format.type === "schema" ? format.schema : null },
  };
}

const DEFAULT_EFFORT = "medium";

/** Returns the number of tokens that the model would read. As at vendors, a request without text has one token. */
function countPrompt({ system, turns, tools }: NeutralConversation): number {
  let count = countTokens(system.map(({ text }) => text).join("\n"));
  for (const { parts } of turns) for (const part of parts) count += countPart(part);
  for (const { name, description, parameters } of tools)
    count += countTokens(JSON.stringify({ name, description, parameters }));
  return Math.max(1, count);
}

function countPart(part: Part): number {
  if (part.type === "tool_call") return countTokens(part.name) + countTokens(part.arguments);
  if (part.type === "tool_result")
    return part.parts.reduce((sum, each) => sum + countPart(each), countTokens(part.callId));
  return isAttachment(part) ? TOKENS_PER_ATTACHMENT : countTokens(textOf([part]));
}

function isOwn(part: Part): boolean {
  return part.type !== "tool_result";
}

function isAttachment({ type }: Part): boolean {
  return type === "image" || type === "audio" || type === "file";
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

function resultText({ parts }: ToolResult): string {
  return textOf(parts).trim();
}

/**
 * Returns the requested tool, otherwise the first allowed tool. Null when there is no tool, or the reply must not call
 * one.
 */
function chosenTool({ tools, toolChoice, params }: NeutralConversation): NeutralTool | null {
  if (toolChoice?.type === "none") return null;
  if (toolChoice?.type !== "tool" && toolChoice?.type !== "allowed") return tools[0] ?? null;
  const names = toolChoice.type === "tool" ? [toolChoice.name] : toolChoice.names;
  const tool = tools.find(({ name }) => names.includes(name));
  if (tool) return tool;
  const field = params.toolChoice ?? "tool_choice";
  throw rejected(`\`${field}\` names a tool that is not among the tools.`, field);
}
