import { describe, test } from "bun:test";
import {
  expectConversationsToSurvive,
  expectCutsNotToMatter,
  expectRepliesToSurvive,
  expectStreamsToSurvive,
  type LawfulDialect,
} from "../../../test/support/text-laws.ts";
import type { AssistantPart, Conversation, TextPart, UserPart } from "../conversation/request.ts";
import type { VendorTerms } from "../dialect.ts";
import { chat, readRequest, type ChatRequest } from "./index.ts";

const terms: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: { takesTopK: true, takesRefusals: true, reasoningField: "reasoning_details" },
  coveredTokens: null,
  model: { id: "public-model", maxOutputTokens: 64_000, reasoning: "effort" },
};
const payloadOf = (body: object) => readRequest(Buffer.from(JSON.stringify(body)));
const payload = payloadOf({ model: "public-model", messages: [{ role: "user", content: "hi" }] });

/**
 * Chat has a single text for instructions, no flag for failed tools, no reasoning budget, and a single kind of tokens
 * that were written to a cache. It accepts no reasoning of other protocols.
 */
const lawful: LawfulDialect<ChatRequest> = {
  dialect: chat,
  terms,
  read: (raw) => readRequest(Buffer.from(raw)),
  sayable(conversation) {
    const { system, turns, reasoning, tools } = conversation;
    const effort = reasoning?.effort ?? null;
    return {
      ...conversation,
      system: joined(system),
      turns: turns.map((turn): Conversation["turns"][number] => {
        if (turn.role === "assistant") return { ...turn, parts: turn.parts.flatMap(ownPart) };
        return turn.role === "system"
          ? { ...turn, parts: joined(turn.parts) }
          : { ...turn, parts: joinedUser(turn.parts) };
      }),
      toolChoice: tools.length > 0 ? conversation.toolChoice : null,
      parallelCalls: tools.length > 0 ? conversation.parallelCalls : null,
      reasoning: effort && { effort, budgetTokens: null, isVisible: null },
      cacheKey: null,
    };
  },
  sayableStream: (reply) => ({ ...reply, parts: inRuns(reply.parts).flatMap(streamed) }),
  sayableReply: (reply) => ({
    ...reply,
    id: `chatcmpl-${reply.id}`,
    report: reply.report && { ...reply.report, tokens: without("cacheWrite1h", reply.report.tokens) },
  }),
};

function inRuns(parts: readonly AssistantPart[]): AssistantPart[][] {
  const runs: AssistantPart[][] = [];
  for (const part of parts) {
    const last = runs.at(-1);
    if (part.type === "reasoning" && last?.[0]?.type === "reasoning") last.push(part);
    else runs.push([part]);
  }
  return runs;
}

/** Returns reasoning as a stream delivers it: several texts become one part without a signature. */
function streamed(run: AssistantPart[]): AssistantPart[] {
  const texts = run.map((part) => (part.type === "reasoning" ? part.text : ""));
  const text = texts.join("");
  return text === "" || texts[0] === text ? run : [{ type: "reasoning", text, signature: null }];
}

function without<Value extends object>(name: string, value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)) as Value;
}

function joined(parts: readonly TextPart[]): TextPart[] {
  return parts.length === 0 ? [] : [{ type: "text", text: parts.map(({ text }) => text).join("\n\n") }];
}

function joinedUser(parts: readonly UserPart[]): UserPart[] {
  const results = parts
    .filter((part) => part.type === "tool_result")
    .map((result) => ({
      ...result,
      parts: joined(result.parts.filter((part) => part.type === "text")),
      isError: false,
    }));
  const rest = parts.filter((part) => part.type !== "tool_result");
  const texts = rest.filter((part) => part.type === "text");
  if (texts.length === rest.length) return [...results, ...joined(texts)];
  return [...results, ...rest.map((part) => without("cacheControl", part))];
}

/**
 * Removes a signature of another protocol from a tool call. Leaves out reasoning with such a signature, because vendors
 * of `chat` cannot read it.
 */
function ownPart(part: AssistantPart): AssistantPart[] {
  if (!("signature" in part) || !part.signature || part.signature.dialect === "chat") return [part];
  return part.type === "tool_call" ? [without("signature", part)] : [];
}

describe("the laws of chat completions", () => {
  test("a conversation survives", () => expectConversationsToSurvive(lawful));
  test("a whole reply survives", () => expectRepliesToSurvive(lawful, payload));
  test("a stream survives", () => expectStreamsToSurvive(lawful, payload));
  test("cuts do not matter", () => expectCutsNotToMatter(lawful, payload, chat, payload));
});
