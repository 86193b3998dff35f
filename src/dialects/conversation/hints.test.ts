import { describe, expect, test } from "bun:test";
import { readRequest as readChat } from "../chat/index.ts";
import type { TextPayload, VendorTerms, VendorTraits } from "../dialect.ts";
import { readRequest as readMessages } from "../messages/index.ts";
import type { TextDialectName } from "../name.ts";
import { readRequest as readNative } from "../native/text/index.ts";
import { readRequest as readResponses } from "../responses/index.ts";
import { textDialect, translate } from "../text.ts";
import { expectHintsToBeNamed, TARGETS } from "../../../test/support/hint-laws.ts";
import { HINT_CALLERS } from "../../../test/support/hint-requests.table.ts";
import { policyFor } from "../../../test/support/usage-policy.ts";

/*
 * Requests with the hints that clients of each protocol send by default. No request may be refused because its vendor
 * has another protocol. The lists contain the hints that are left out.
 */
const READ: Readonly<Record<TextDialectName, (body: object) => TextPayload>> = {
  chat: (body) => readChat(bytes({ model: "m", messages: [{ role: "user", content: "hi" }], ...body })),
  messages: (body) => {
    const all = { model: "m", max_tokens: 9_000, messages: [{ role: "user", content: "hi" }], ...body };
    return readMessages(bytes(all), new Headers());
  },
  responses: (body) => readResponses(bytes({ model: "m", input: "hi", ...body })),
  native: (body) => {
    const contents = [{ role: "user", parts: [{ text: "hi" }] }];
    return readNative(bytes({ contents, ...body }), { model: "m", isStream: false });
  },
};

function bytes(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

interface Way {
  caller: TextDialectName;
  vendor: TextDialectName;
  body: object;
  reasoning?: VendorTerms["model"]["reasoning"];
  traits?: VendorTraits;
}

function send({ caller, vendor, body, reasoning, traits = {} }: Way) {
  const model = { id: "m", maxOutputTokens: 30_000, ...(reasoning && { reasoning }) };
  const terms = { upstreamModel: "v", traits, coveredTokens: null, model };
  const ends = { caller: textDialect(caller), vendor: textDialect(vendor) };
  const { raw, ignored } = translate(ends, READ[caller](body), terms, policyFor(9));
  return { sent: JSON.parse(raw), ignored };
}

const FUNCTION = { name: "f", parameters: { type: "object", properties: {} } };
const CHAT_TOOL = { type: "function", function: FUNCTION };
const MESSAGES_TOOL = { name: "f", input_schema: FUNCTION.parameters };
const GEMINI_CLI = { generationConfig: { temperature: 1, topP: 0.95, topK: 64 } };
const NAMED = {
  messages: [
    { role: "user", content: "hi" },
    { role: "assistant", name: "model", content: "Hello." },
    { role: "user", content: "And?" },
  ],
};

describe("a hint that the target cannot be told is left out and named", () => {
  test.each<[string, Way, readonly string[]]>([
    [
      "Gemini CLI, to chat",
      { caller: "native", vendor: "chat", body: GEMINI_CLI },
      ["generationConfig.topK"],
    ],
    [
      "Gemini CLI, to responses",
      { caller: "native", vendor: "responses", body: GEMINI_CLI },
      ["generationConfig.topK"],
    ],
    [
      "Gemini CLI, to a Claude that thinks",
      { caller: "native", vendor: "messages", body: GEMINI_CLI, reasoning: "adaptive" },
      ["generationConfig.topP", "generationConfig.topK"],
    ],
    [
      "LangChain's names, to messages",
      { caller: "chat", vendor: "messages", body: NAMED },
      ["messages.name"],
    ],
    ["LangChain's names, to native", { caller: "chat", vendor: "native", body: NAMED }, ["messages.name"]],
    [
      "LangChain's names, to responses",
      { caller: "chat", vendor: "responses", body: NAMED },
      ["messages.name"],
    ],
    [
      "LlamaIndex's temperature",
      { caller: "chat", vendor: "messages", body: { temperature: 0.1 }, reasoning: "adaptive" },
      ["temperature"],
    ],
    [
      "a temperature above the range",
      { caller: "chat", vendor: "messages", body: { temperature: 1.5 } },
      ["temperature"],
    ],
    [
      "a temperature above the vendor's maximum",
      {
        caller: "messages",
        vendor: "chat",
        body: { temperature: 0.9 },
        traits: { maxTemperature: 0.5 },
      },
      ["temperature"],
    ],
    [
      "Codex's verbosity, to chat",
      {
        caller: "responses",
        vendor: "chat",
        body: { text: { verbosity: "low" } },
        traits: { refuses: ["verbosity"] },
      },
      ["text.verbosity"],
    ],
    [
      "Codex's verbosity, to native",
      { caller: "responses", vendor: "native", body: { text: { verbosity: "low" } } },
      ["text.verbosity"],
    ],
    [
      "Codex's verbosity, to messages",
      { caller: "responses", vendor: "messages", body: { text: { verbosity: "low" } } },
      ["text.verbosity"],
    ],
    [
      "a forced tool without parallel calls",
      {
        caller: "messages",
        vendor: "native",
        body: {
          tools: [MESSAGES_TOOL],
          tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
        },
      },
      ["tool_choice.disable_parallel_tool_use"],
    ],
    [
      "parallel calls that a vendor refuses to be told of",
      {
        caller: "responses",
        vendor: "chat",
        body: { parallel_tool_calls: false, tools: [{ type: "function", ...FUNCTION }] },
        traits: { refuses: ["parallel_tool_calls"] },
      },
      ["parallel_tool_calls"],
    ],
    [
      "bounds of tools and history",
      { caller: "responses", vendor: "messages", body: { max_tool_calls: 3, truncation: "auto" } },
      ["max_tool_calls", "truncation"],
    ],
    [
      "a compaction",
      {
        caller: "responses",
        vendor: "chat",
        body: { context_management: [{ type: "compaction", compact_threshold: 9 }] },
      },
      ["context_management"],
    ],
    [
      "labels of messages",
      {
        caller: "messages",
        vendor: "chat",
        body: { user_profile_id: "u", workspace_id: "w", diagnostics: { a: 1 } },
      },
      ["user_profile_id", "workspace_id", "diagnostics"],
    ],
    [
      "marks of caches",
      {
        caller: "messages",
        vendor: "native",
        body: { system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
      },
      ["cache_control"],
    ],
    [
      "more marks than vendors take",
      {
        caller: "chat",
        vendor: "messages",
        body: {
          messages: Array.from({ length: 5 }, () => ({
            role: "user",
            content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
          })),
        },
      },
      ["cache_control"],
    ],
    [
      "an id of an end user that is too long",
      { caller: "messages", vendor: "chat", body: { metadata: { user_id: "u".repeat(65) } } },
      ["metadata.user_id"],
    ],
    [
      "an end user by the newer name",
      { caller: "chat", vendor: "native", body: { safety_identifier: "u" } },
      ["safety_identifier"],
    ],
    [
      "seed and penalties",
      {
        caller: "chat",
        vendor: "messages",
        body: { seed: 7, presence_penalty: 0.5, frequency_penalty: 0 },
      },
      ["seed", "presence_penalty"],
    ],
    [
      "labels of Gemini",
      {
        caller: "native",
        vendor: "chat",
        body: { labels: { team: "a" }, generationConfig: { mediaResolution: "MEDIA_RESOLUTION_LOW" } },
      },
      ["labels", "generationConfig.mediaResolution"],
    ],
    [
      "schemas of tools that are to be kept to",
      {
        caller: "chat",
        vendor: "native",
        body: { tools: [{ type: "function", function: { ...FUNCTION, strict: true } }] },
      },
      ["tools.strict"],
    ],
  ])("%s", (_, way, named) => {
    expect(send(way).ignored).toEqual(named);
  });
});

describe("reasoning is told where the target has a form for it, and is named where it has none", () => {
  test.each<[string, Way, readonly string[]]>([
    [
      "an effort",
      { caller: "chat", vendor: "messages", body: { reasoning_effort: "high" } },
      ["reasoning_effort"],
    ],
    [
      "OpenRouter's form",
      { caller: "chat", vendor: "native", body: { reasoning: { effort: "high" } } },
      ["reasoning"],
    ],
    [
      "OpenRouter's form, told",
      { caller: "chat", vendor: "native", body: { reasoning: { effort: "high" } }, reasoning: "level" },
      [],
    ],
    [
      "a budget",
      { caller: "messages", vendor: "native", body: { thinking: { type: "enabled", budget_tokens: 2000 } } },
      ["thinking"],
    ],
    [
      "Claude Code's effort",
      { caller: "messages", vendor: "chat", body: { output_config: { effort: "high" } } },
      ["output_config.effort"],
    ],
    [
      "a summary that chat has no field for",
      {
        caller: "responses",
        vendor: "chat",
        body: { reasoning: { effort: "low", summary: "auto" } },
        reasoning: "effort",
      },
      ["reasoning.summary"],
    ],
    [
      "a budget beside a forced tool",
      {
        caller: "chat",
        vendor: "messages",
        body: { tools: [CHAT_TOOL], tool_choice: "required", reasoning_effort: "high" },
        reasoning: "budget",
      },
      ["reasoning_effort"],
    ],
    [
      "thoughts",
      {
        caller: "native",
        vendor: "responses",
        body: { generationConfig: { thinkingConfig: { thinkingBudget: 99 } } },
      },
      ["generationConfig.thinkingConfig"],
    ],
  ])("%s", (_, way, named) => {
    expect(send(way).ignored).toEqual(named);
  });
});

describe("a request that asks for nothing more has nothing named", () => {
  test.each<[string, Way]>([
    [
      "the defaults of sampling",
      {
        caller: "native",
        vendor: "messages",
        body: { generationConfig: { temperature: 1, topP: 1 } },
        reasoning: "adaptive",
      },
    ],
    [
      "the default verbosity",
      { caller: "responses", vendor: "native", body: { text: { verbosity: "medium" } } },
    ],
    [
      "calls without a bound",
      { caller: "chat", vendor: "native", body: { parallel_tool_calls: true, tools: [CHAT_TOOL] } },
    ],
    [
      "no tools to call in parallel",
      { caller: "chat", vendor: "native", body: { parallel_tool_calls: false } },
    ],
    [
      "empty labels",
      { caller: "messages", vendor: "chat", body: { metadata: {}, context_management: null } },
    ],
    [
      "what the vendor takes",
      {
        caller: "native",
        vendor: "chat",
        body: { generationConfig: { topK: 3, seed: 7 } },
        traits: { takesTopK: true },
      },
    ],
  ])("%s", (_, way) => {
    expect(send(way).ignored).toEqual([]);
  });
});

test.each(["chat", "responses", "native"] as const)("a reference to a tool is text for %s", (vendor) => {
  const found = [{ type: "tool_reference", tool_name: "look_up_city" }];
  const messages = [
    { role: "user", content: "Which tool?" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: found }] },
  ];
  const { sent, ignored } = send({ caller: "messages", vendor, body: { messages, tools: [MESSAGES_TOOL] } });
  expect(JSON.stringify(sent)).toContain("Tool: look_up_city");
  expect(ignored).toEqual([]);
});

describe.each(Object.keys(HINT_CALLERS) as TextDialectName[])("random requests of %s", (caller) => {
  test.each(TARGETS)("for $name: no hint refused, no content lost, and named what is missing", (target) => {
    expectHintsToBeNamed(caller, target, 60);
  });
});
