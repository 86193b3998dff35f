import { describe, expect, test } from "bun:test";
import {
  expectConversationsToSurvive,
  expectCutsNotToMatter,
  expectRepliesToSurvive,
  expectStreamsToSurvive,
  type LawfulDialect,
} from "../../../test/support/text-laws.ts";
import { chat, readRequest as readChat } from "../chat/index.ts";
import type { AssistantPart, Conversation, Tool, UserPart } from "../conversation/request.ts";
import type { VendorTerms } from "../dialect.ts";
import { readRequest, responses, type ResponsesRequest } from "./index.ts";

const terms: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "public-model", maxOutputTokens: 64_000, reasoning: "effort" },
};
const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));
const payload = readRequest(bytesOf({ model: "public-model", input: "hi" }));
const chatPayload = readChat(bytesOf({ model: "public-model", messages: [{ role: "user", content: "hi" }] }));

/**
 * The protocol has no penalties, seeds, stop sequences, audio, reasoning budgets or flag for failed tools. It has only
 * one kind of cache writes. It accepts no reasoning of other protocols.
 */
const lawful: LawfulDialect<ResponsesRequest> = {
  dialect: responses,
  terms,
  read: (raw) => readRequest(Buffer.from(raw)),
  sayable(conversation) {
    const { turns, tools, reasoning, maxTokens, system } = conversation;
    const effort = reasoning?.effort ?? null;
    const isVisible = reasoning?.isVisible && effort !== "none" ? true : null;
    return {
      ...conversation,
      system: system.map((part) => without("cacheControl", part)),
      turns: turns.map((turn): Conversation["turns"][number] => {
        if (turn.role === "assistant") return { ...turn, parts: turn.parts.flatMap(ownPart) };
        if (turn.role === "user") return { ...turn, parts: turn.parts.flatMap(userPart) };
        return { ...turn, parts: turn.parts.map((part) => without("cacheControl", part)) };
      }),
      tools: tools.map(strictTool),
      toolChoice: tools.length > 0 ? conversation.toolChoice : null,
      parallelCalls: tools.length > 0 ? conversation.parallelCalls : null,
      maxTokens: maxTokens && Math.max(16, maxTokens),
      topK: null,
      stop: [],
      seed: null,
      presencePenalty: null,
      frequencyPenalty: null,
      reasoning: effort || isVisible ? { effort, budgetTokens: null, isVisible } : null,
    };
  },
  sayableReply: (reply) => ({
    ...reply,
    id: `resp_${reply.id}`,
    report: reply.report && { ...reply.report, tokens: without("cacheWrite1h", reply.report.tokens) },
    parts: reply.parts.flatMap(unsignedCall),
  }),
};

function without<Value extends object>(name: string, value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)) as Value;
}

function strictTool(tool: Tool): Tool {
  return tool.kind === "function" ? { ...tool, strict: tool.strict ?? false } : tool;
}

function userPart(part: UserPart): UserPart[] {
  if (part.type === "audio") return [{ type: "text", text: "audio" }];
  if (part.type !== "tool_result") return [without("cacheControl", part)];
  return [{ ...part, isError: false, parts: part.parts.map((each) => without("cacheControl", each)) }];
}

/**
 * Removes what vendors of this protocol cannot read: signatures of tool calls, and reasoning that they have not signed.
 */
function ownPart(part: AssistantPart): AssistantPart[] {
  if (part.type === "tool_call") return [without("signature", part)];
  return part.type !== "reasoning" || part.signature?.dialect === "responses" ? [part] : [];
}

/** Returns the part. A tool call loses its signature, which becomes an item before the call. */
function unsignedCall(part: AssistantPart): AssistantPart[] {
  return [part.type === "tool_call" ? without("signature", part) : part];
}

describe("the laws of the responses protocol", () => {
  test("a conversation survives", () => expectConversationsToSurvive(lawful));
  test("a whole reply survives", () => expectRepliesToSurvive(lawful, payload));
  test("a stream survives", () => expectStreamsToSurvive(lawful, payload));
  test("cuts do not matter", () => expectCutsNotToMatter(lawful, payload, responses, payload));
  test("cuts do not matter to callers of chat", () =>
    expectCutsNotToMatter(lawful, payload, chat, chatPayload));
});

test("a tool of which its caller did not say that it is strict is not", () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const request = bytesOf({ model: "m", messages: [{ role: "user", content: "hi" }], tools });
  const conversation = chat.readConversation(readChat(request));
  const sent = JSON.parse(responses.writeConversation(conversation, terms));
  expect(sent.tools).toEqual([
    { type: "function", name: "f", parameters: { type: "object" }, strict: false },
  ]);
});
