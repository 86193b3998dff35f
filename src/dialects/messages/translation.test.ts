import { describe, test } from "bun:test";
import {
  expectConversationsToSurvive,
  expectCutsNotToMatter,
  expectRepliesToSurvive,
  expectStreamsToSurvive,
  type LawfulDialect,
} from "../../../test/support/text-laws.ts";
import { chat, readRequest as readChat } from "../chat/index.ts";
import type { Reasoning } from "../conversation/reasoning.ts";
import type { Conversation, Turn, UserPart } from "../conversation/request.ts";
import type { VendorTerms } from "../dialect.ts";
import { messages, readRequest } from "./index.ts";
import type { MessagesRequest } from "./request.ts";

const MAX_OUTPUT = 64_000;
const terms: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "public-model", maxOutputTokens: MAX_OUTPUT, reasoning: "budget" },
};
const read = (raw: string) => readRequest(Buffer.from(raw), new Headers());
const question = [{ role: "user", content: "hi" }];
const payload = read(JSON.stringify({ model: "public-model", max_tokens: 9, messages: question }));
const chatPayload = readChat(Buffer.from(JSON.stringify({ model: "public-model", messages: question })));

/**
 * The messages protocol has no custom tools, audio or refusals, and its vendors get instructions only at the start.
 * Vendors accept no reasoning of other protocols, require a maximum of output tokens, and accept only small ranges for
 * sampling.
 */
const lawful: LawfulDialect<MessagesRequest> = {
  dialect: messages,
  terms,
  read,
  sayable(conversation) {
    const { tools, turns, toolChoice, user } = conversation;
    const isCustom = tools.some(({ kind }) => kind === "custom") || turns.some(hasCustomCall);
    if (isCustom || turns.some(hasAudio)) return null;
    const names = toolChoice?.type === "allowed" ? toolChoice.names : null;
    const maxTokens = Math.min(conversation.maxTokens ?? MAX_OUTPUT, MAX_OUTPUT);
    const said = joinedTurns(turns);
    const choice = choiceOf(conversation);
    const reasoning = reasoningOf(conversation.reasoning, { maxTokens, choice, turns: said });
    const isFree = reasoning === null || reasoning.effort === "none";
    const temperature = conversation.temperature === null ? null : Math.min(conversation.temperature, 1);
    return {
      ...conversation,
      turns: said,
      tools: tools
        .filter(({ name }) => names?.includes(name) ?? true)
        .map((tool) => ({ ...tool, strict: null })),
      ...choice,
      maxTokens,
      temperature: isFree ? temperature : null,
      topP: isFree && temperature === null ? conversation.topP : null,
      topK: isFree ? conversation.topK : null,
      seed: null,
      presencePenalty: null,
      frequencyPenalty: null,
      verbosity: null,
      cacheKey: null,
      user,
      format:
        conversation.format?.type === "schema"
          ? { ...conversation.format, name: null, strict: null, description: null }
          : null,
      reasoning,
    };
  },
  sayableReply: (reply) =>
    reply.parts.some((part) => part.type === "tool_call" && part.kind === "custom")
      ? null
      : {
          ...reply,
          id: `msg_${reply.id}`,
          parts: reply.parts.map((part) => (part.type === "refusal" ? { ...part, type: "text" } : part)),
        },
};

function hasCustomCall({ parts }: Turn): boolean {
  return parts.some((part) => part.type === "tool_call" && part.kind === "custom");
}

function hasAudio({ parts }: Turn): boolean {
  return parts.some(({ type }) => type === "audio");
}

function choiceOf({ tools, toolChoice, parallelCalls }: Conversation) {
  if (tools.length === 0) return { toolChoice: null, parallelCalls: null };
  if (toolChoice?.type === "none") return { toolChoice, parallelCalls: null };
  if (toolChoice?.type === "allowed")
    return { toolChoice: { type: toolChoice.mode }, parallelCalls } as const;
  return {
    toolChoice: toolChoice ?? (parallelCalls === null ? null : { type: "auto" }),
    parallelCalls,
  } as const;
}

function reasoningOf(
  reasoning: Reasoning | null,
  rest: { maxTokens: number; choice: Pick<Conversation, "toolChoice">; turns: readonly Turn[] },
): Reasoning | null {
  const { maxTokens, choice, turns } = rest;
  if (!reasoning) return null;
  if (reasoning.effort === "none") return { effort: "none", budgetTokens: null, isVisible: null };
  const budgets = { minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576, xhigh: 32_768, max: 128_000 };
  const wanted = reasoning.budgetTokens ?? budgets[reasoning.effort ?? "low"];
  const budgetTokens = Math.min(wanted, maxTokens - 1);
  const isForced = choice.toolChoice?.type === "required" || choice.toolChoice?.type === "tool";
  const last = turns.findLast(({ role }) => role === "assistant")?.parts ?? [];
  const isUnexplained = last.some(({ type }) => type === "tool_call") && last[0]?.type !== "reasoning";
  if (budgetTokens < 1_024 || isForced || isUnexplained) return null;
  return { effort: null, budgetTokens, isVisible: reasoning.isVisible };
}

function joinedTurns(turns: readonly Turn[]): Turn[] {
  const joined: { role: "user" | "assistant"; parts: UserPart[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "assistant" : "user";
    const parts = turn.parts.flatMap(ownPart);
    if (joined.at(-1)?.role === role) joined.at(-1)!.parts.push(...parts);
    else joined.push({ role, parts });
  }
  const last = joined.at(-1)!;
  const text = last.parts.at(-1);
  if (last.role === "assistant" && text?.type === "text")
    last.parts = [...last.parts.slice(0, -1), { ...text, text: text.text.trimEnd() }];
  return joined as Turn[];
}

function ownPart(part: Turn["parts"][number]): UserPart[] {
  const { cacheControl: _, ...bare } = part as UserPart & { cacheControl?: unknown };
  if (part.type === "reasoning") return part.signature?.dialect === "messages" ? [part as never] : [];
  if (part.type === "refusal") return [{ type: "text", text: part.text }];
  if (part.type === "image") return [{ type: "image", source: part.source }];
  if (part.type === "tool_call") return [{ ...part, signature: undefined } as never];
  if (part.type === "tool_result") return [{ ...part, parts: part.parts.flatMap(ownPart) as never }];
  return [bare as UserPart];
}

describe("the laws of messages", () => {
  test("a conversation survives", () => expectConversationsToSurvive(lawful));
  test("a whole reply survives", () => expectRepliesToSurvive(lawful, payload));
  test("a stream survives", () => expectStreamsToSurvive(lawful, payload));
  test("cuts do not matter", () => {
    expectCutsNotToMatter(lawful, payload, messages, payload);
    expectCutsNotToMatter(lawful, payload, chat, chatPayload);
  });
});
