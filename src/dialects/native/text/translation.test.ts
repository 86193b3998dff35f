import { describe, test } from "bun:test";
import {
  expectConversationsToSurvive,
  expectCutsNotToMatter,
  expectRepliesToSurvive,
  expectStreamsToSurvive,
  type LawfulDialect,
} from "../../../../test/support/text-laws.ts";
import { INPUT_CATEGORIES, sumTokens } from "../../../domain/usage.ts";
import { parseExactly } from "../../../lib/parse-json.ts";
import { chat, readRequest as readChat } from "../../chat/index.ts";
import { CustomToolsAsFunctions } from "../../conversation/custom-tools.ts";
import type { Reply } from "../../conversation/reply.ts";
import type {
  AssistantPart,
  Conversation,
  ToolChoice,
  ToolResult,
  Turn,
  UserPart,
} from "../../conversation/request.ts";
import type { VendorTerms } from "../../dialect.ts";
import { native, readRequest } from "./index.ts";
import type { NativeRequest } from "./request.ts";

const terms: VendorTerms = {
  upstreamModel: "gemini-flash",
  traits: {},
  coveredTokens: null,
  model: { id: "public-model", maxOutputTokens: 64_000, reasoning: "level" },
};
const read = (raw: string, isStream = true) =>
  readRequest(Buffer.from(raw), { model: "public-model", isStream });
const payload = read('{"contents":[{"parts":[{"text":"hi"}]}]}');
const chatBody = { model: "public-model", messages: [{ role: "user", content: "hi" }], stream: true };
const chatPayload = readChat(Buffer.from(JSON.stringify(chatBody)));

/**
 * In this protocol, instructions are only at the start, and the pictures of a tool result follow the result. There are
 * no file names, no strict functions and no names of schemas. There are levels of reasoning, but no reasoning of other
 * protocols is accepted. The usage does not show tokens that were written to a cache.
 */
const lawful: LawfulDialect<NativeRequest> = {
  dialect: native,
  terms,
  read: (raw, { isStream }) => read(raw, isStream),
  sayable(any) {
    const conversation = new CustomToolsAsFunctions(any).conversation;
    const { system, tools, reasoning, format } = conversation;
    const turns = mergedTurns(conversation.turns.map(sayableTurn));
    if (turns.length === 0) return null;
    return {
      ...conversation,
      system: system.map(uncached),
      turns,
      tools: tools.map((tool) => ({ ...uncached(tool), strict: null })),
      toolChoice: tools.length > 0 ? sayableChoice(conversation.toolChoice) : null,
      parallelCalls: null,
      format: format && { ...format, name: null, strict: null, description: null, ...bare(format) },
      reasoning: reasoning && sayableReasoning(reasoning),
      verbosity: null,
      cacheKey: null,
      user: null,
    };
  },
  sayableReply: (reply) => ({
    ...reply,
    parts: joinTexts(reply.parts.map(asFunctionCall)),
    report: reply.report && sayableReport(reply.report),
  }),
};

function bare(format: NonNullable<Conversation["format"]>): object {
  return format.type === "json"
    ? { name: undefined, strict: undefined, description: undefined }
    : { schema: format.schema };
}

function sayableReport(report: NonNullable<Reply["report"]>): NonNullable<Reply["report"]> {
  const { cacheRead, output = 0, reasoning } = report.tokens;
  const input = sumTokens(report.tokens, INPUT_CATEGORIES) - (cacheRead ?? 0);
  const tokens = { input, output, ...(cacheRead && { cacheRead }), ...(reasoning && { reasoning }) };
  return { ...report, tokens };
}

function sayableChoice(choice: ToolChoice | null): ToolChoice | null {
  const [name = "", ...others] = choice?.type === "allowed" && choice.mode === "required" ? choice.names : [];
  return name !== "" && others.length === 0 ? { type: "tool", name } : choice;
}

const LEVELS = { none: "low", minimal: "low", low: "low", medium: "medium" } as const;

function sayableReasoning(reasoning: NonNullable<Conversation["reasoning"]>): Conversation["reasoning"] {
  const { effort, budgetTokens, isVisible } = reasoning;
  const word =
    effort ??
    (budgetTokens === null
      ? null
      : budgetTokens <= 1_024
        ? "low"
        : budgetTokens <= 8_192
          ? "medium"
          : "high");
  if (word === null && isVisible === null) return null;
  const level = word === null ? null : word in LEVELS ? LEVELS[word as keyof typeof LEVELS] : "high";
  return { effort: level, budgetTokens: null, isVisible: isVisible ?? (budgetTokens === null ? null : true) };
}

function sayableTurn(turn: Turn): Turn {
  if (turn.role === "assistant") return { ...turn, parts: turn.parts.flatMap(ownPart) };
  if (turn.role === "system") return { role: "user", parts: turn.parts.map(uncached) };
  const results = turn.parts.filter((part) => part.type === "tool_result");
  const media = results.flatMap(({ parts }) => parts.filter(({ type }) => type !== "text")) as UserPart[];
  const others = turn.parts.filter((part) => part.type !== "tool_result");
  return { role: "user", parts: [...results.map(plainResult), ...[...media, ...others].map(plainPart)] };
}

function plainResult({ type, callId, parts, isError }: ToolResult): ToolResult {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { type, callId, parts: [{ type: "text", text: texts.join("\n") }], isError };
}

function plainPart(part: UserPart): UserPart {
  return part.type === "image" || part.type === "file"
    ? { type: part.type, source: part.source as never }
    : uncached(part);
}

function ownPart(part: AssistantPart): AssistantPart[] {
  if (part.type === "refusal") return [{ type: "text", text: part.text }];
  if (part.type === "text") return [uncached(part)];
  if (part.type === "reasoning")
    return part.signature?.dialect === "native" && !part.isRedacted ? [part] : [];
  const { signature, ...call } = uncached(part);
  const args = JSON.stringify(parseExactly(call.arguments));
  return [{ ...call, arguments: args, ...(signature?.dialect === "native" && { signature }) }];
}

function asFunctionCall(part: AssistantPart): AssistantPart {
  if (part.type === "refusal") return { type: "text", text: part.text };
  // Vendors of this protocol never redact their own reasoning.
  if (part.type === "reasoning" && part.signature?.dialect === "native")
    return { type: "reasoning", text: part.text, signature: part.signature };
  if (part.type !== "tool_call") return part;
  const args =
    part.kind === "custom"
      ? JSON.stringify({ input: part.arguments })
      : JSON.stringify(parseExactly(part.arguments));
  return { ...part, kind: "function", arguments: args };
}

function joinTexts(parts: readonly AssistantPart[]): AssistantPart[] {
  const joined: AssistantPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === "text" && last?.type === "text")
      joined.splice(-1, 1, { ...last, text: last.text + part.text });
    else joined.push(part);
  }
  return joined;
}

function mergedTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns.filter(({ parts }) => parts.length > 0)) {
    const last = merged.at(-1);
    if (last?.role === turn.role) last.parts = [...last.parts, ...turn.parts] as never;
    else merged.push({ ...turn });
  }
  return merged;
}

function uncached<Value extends object>(value: Value): Value {
  const { cacheControl: _, ...rest } = value as Value & { cacheControl?: unknown };
  return rest as Value;
}

describe("the laws of the native protocol", () => {
  test("a conversation survives", () => expectConversationsToSurvive(lawful));
  test("a whole reply survives", () => expectRepliesToSurvive(lawful, payload));
  test("a stream survives", () => expectStreamsToSurvive(lawful, payload));
  test("cuts do not matter", () => expectCutsNotToMatter(lawful, payload, native, payload));
  test("cuts do not matter to callers of chat", () =>
    expectCutsNotToMatter(lawful, payload, chat, chatPayload));
});
