import { translatable } from "../conversation/untranslatable.ts";
import { expect, test } from "bun:test";
import type { AssistantPart, Conversation, FilePart } from "../conversation/request.ts";
import type { VendorTerms, VendorTraits } from "../dialect.ts";
import { readConversation } from "./read-request.ts";
import { readRequest } from "./request.ts";
import { writeConversation } from "./write-request.ts";

const ASK = { model: "m", messages: [{ role: "user", content: "hi" }] };

test.each([
  ["n", { n: 2 }],
  ["logit_bias", { logit_bias: { 1: 2 } }],
  ["functions", { functions: [{ name: "f" }] }],
  ["modalities", { modalities: ["text", "audio"] }],
  ["messages[0].role", { messages: [{ role: "function", content: "x" }] }],
  ["messages[0].tool_call_id", { messages: [{ role: "tool", content: "x" }] }],
  [
    "messages[0].tool_calls[0]",
    { messages: [{ role: "assistant", tool_calls: [{ type: "function", function: { name: "f" } }] }] },
  ],
  ["messages[0].content[0].type", { messages: [{ role: "user", content: [{ type: "video_url" }] }] }],
  ["tools[0].type", { tools: [{ type: "mystery" }] }],
  ["tools[0].custom.name", { tools: [{ type: "custom", custom: {} }] }],
  ["reasoning_effort", { reasoning_effort: "mystery" }],
  ["response_format.schema", { response_format: { type: "json_object", schema: 7 } }],
  ["seed", { seed: "seven" }],
  ["other_field", { other_field: 1 }],
])("a request of another protocol cannot have %s", (param, more) => {
  const payload = readRequest(Buffer.from(JSON.stringify({ ...ASK, ...more })));
  const publicMessage = expect.stringContaining(`\`${param}\``);
  expect(() => translatable(readConversation(payload))).toThrow(
    expect.objectContaining({ kind: "rejected", param, isUnsent: true, publicMessage }),
  );
});

test("a schema beside `json_object` is one to be kept to", () => {
  const schema = { type: "object", properties: {} };
  const read = (response_format: object) =>
    readConversation(readRequest(Buffer.from(JSON.stringify({ ...ASK, response_format }))));
  expect(read({ type: "json_object", schema }).format).toEqual(
    read({ type: "json_schema", json_schema: { schema } }).format,
  );
  expect(read({ type: "json_object", schema: null }).format).toEqual({ type: "json" });
});

test("hints of this protocol alone are named, and the label of a message", () => {
  const hints = {
    metadata: { a: "b" },
    prediction: { type: "content", content: "x" },
    prompt_cache_retention: "24h",
    min_p: 0.1,
  };
  const messages = [{ role: "user", name: "Ann", content: "x" }];
  const payload = readRequest(Buffer.from(JSON.stringify({ ...ASK, ...hints, messages })));
  expect(readConversation(payload).ownHints).toEqual([...Object.keys(hints), "messages.name"]);
});

test.each<[object, Conversation["reasoning"]]>([
  [{ reasoning: { effort: "high" } }, { effort: "high", budgetTokens: null, isVisible: null }],
  [
    { reasoning: { max_tokens: 2000, exclude: true } },
    { effort: null, budgetTokens: 2000, isVisible: false },
  ],
  [{ reasoning: { enabled: false } }, { effort: "none", budgetTokens: null, isVisible: null }],
  [{ reasoning: { enabled: true } }, { effort: null, budgetTokens: null, isVisible: null }],
  [{ reasoning: {} }, null],
])("the form of OpenRouter is read: %j", (fields, reasoning) => {
  const payload = readRequest(Buffer.from(JSON.stringify({ ...ASK, ...fields })));
  expect(readConversation(payload).reasoning).toEqual(reasoning);
});

test("fields that ask for nothing are left out", () => {
  const hints = {
    metadata: {},
    store: true,
    service_tier: "auto",
    stream_options: { include_usage: false },
    logprobs: false,
    logit_bias: {},
    modalities: ["text"],
    n: 1,
    functions: null,
  };
  const payload = readRequest(Buffer.from(JSON.stringify({ ...ASK, ...hints })));
  const plain = readRequest(Buffer.from(JSON.stringify(ASK)));
  expect(readConversation(payload)).toEqual(readConversation(plain));
});

test("messages of one side are one turn, and those of nothing are left out", () => {
  const messages = [
    { role: "developer", content: "a" },
    { role: "system", content: [{ type: "text", text: "b" }] },
    { role: "user", content: "c" },
    { role: "assistant", content: null },
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "text", text: "d" },
      ],
    },
    { role: "system", content: "e" },
    { role: "user", content: "f" },
  ];
  const { system, turns } = readConversation(readRequest(Buffer.from(JSON.stringify({ ...ASK, messages }))));
  expect(system.map(({ text }) => text)).toEqual(["a", "b"]);
  expect(turns.map(({ role, parts }) => [role, parts.map((part) => Object(part).text)])).toEqual([
    ["user", ["c", "d"]],
    ["system", ["e"]],
    ["user", ["f"]],
  ]);
});

test.each<[string, Partial<Conversation>, VendorTraits]>([
  ["stop", { stop: ["a", "b", "c", "d", "e"] }, {}],
  [
    "response_format",
    { format: { type: "schema", name: "a", schema: {}, strict: null, description: null } },
    { refuses: ["json_schema"] },
  ],
])("a vendor that cannot be told %s is not called", (param, change, traits) => {
  expect(() => write(change, traits)).toThrow(expect.objectContaining({ param, isUnsent: true }));
});

test("a vendor is told what it takes, in its words", () => {
  const tools = [{ kind: "function", name: "f", description: null, parameters: null, strict: null }] as const;
  const more = [...tools, { ...tools[0], name: "g" }];
  expect(write({ maxTokens: 99_999 }, {})).toMatchObject({ max_tokens: 1000 });
  expect(write({ maxTokens: 9 }, { maxTokensField: "max_completion_tokens" })).toMatchObject({
    max_completion_tokens: 9,
  });
  expect(write({ seed: 7 }, { seedField: "random_seed" })).toMatchObject({ random_seed: 7 });
  expect(write({ isStream: true }, {})).toMatchObject({
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(write({ isStream: true }, { refuses: ["stream_options"] })).not.toHaveProperty("stream_options");
  expect(write({ verbosity: "medium" }, { refuses: ["verbosity"] })).not.toHaveProperty("verbosity");
  expect(write({ toolChoice: { type: "auto" }, parallelCalls: false }, {})).toEqual({
    model: "v",
    messages: [{ role: "user", content: "hi" }],
  });
  const allowed = { tools: more, toolChoice: { type: "allowed", mode: "required", names: ["g"] } } as const;
  expect(write(allowed, {})).toMatchObject({ tools: [{}, {}], tool_choice: { type: "allowed_tools" } });
  expect(write(allowed, { refuses: ["allowed_tools"] })).toMatchObject({
    tools: [{ function: { name: "g" } }],
    tool_choice: "required",
  });
});

test("a vendor is told to reason in its way, where its model can be told", () => {
  const reasoning = { effort: null, budgetTokens: 8000, isVisible: true };
  const none = { effort: "none", budgetTokens: null, isVisible: null } as const;
  expect(write({ reasoning }, {})).toMatchObject({ reasoning_effort: "medium" });
  expect(write({ reasoning }, {}, false)).not.toHaveProperty("reasoning_effort");
  expect(write({ reasoning }, { reasoningSwitch: "thinking", takesEffort: true })).toMatchObject({
    thinking: { type: "enabled" },
    reasoning_effort: "medium",
  });
  expect(write({ reasoning: none }, { reasoningSwitch: "thinking", takesEffort: true })).toMatchObject({
    thinking: { type: "disabled" },
  });
  expect(write({ reasoning: none }, { reasoningSwitch: "enable_thinking" })).toMatchObject({
    enable_thinking: false,
  });
});

test("documents are PDF as base64, or text", () => {
  const content = (source: FilePart["source"]): unknown => {
    const { messages } = write({ turns: [{ role: "user", parts: [{ type: "file", source }] }] }, {});
    return Object(messages)[0].content;
  };
  const data = Buffer.from("Größe").toString("base64");
  expect(content({ mediaType: "text/markdown", data })).toEqual([{ type: "text", text: "Größe" }]);
  expect(content({ mediaType: "application/pdf", data })).toEqual([
    { type: "file", file: { filename: "document.pdf", file_data: `data:application/pdf;base64,${data}` } },
  ]);
  const refused = (words: string) =>
    expect.objectContaining({ isUnsent: true, publicMessage: expect.stringContaining(words) });
  expect(() => content({ mediaType: "application/msword", data })).toThrow(refused("PDF or text"));
  expect(() => content({ url: "https://example.com/a.pdf" })).toThrow(refused("in place of links"));
});

test("pictures in the result of a tool follow it as the user's", () => {
  const image = { type: "image", source: { url: "https://a.example/b.png" } } as const;
  const result = {
    type: "tool_result",
    callId: "c",
    parts: [{ type: "text", text: "no" }, image],
    isError: true,
  } as const;
  const { messages } = write({ turns: [{ role: "user", parts: [{ type: "text", text: "?" }, result] }] }, {});
  expect(messages).toEqual([
    { role: "tool", tool_call_id: "c", content: "Error: no" },
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: "https://a.example/b.png" } },
        { type: "text", text: "?" },
      ],
    },
  ]);
});

test("reasoning goes back where the vendor wants it, with a call even when there is none", () => {
  const call = { type: "tool_call", id: "c", name: "f", kind: "function", arguments: "{}" } as const;
  const own = { type: "reasoning", text: "Hm.", signature: { dialect: "chat", value: "s" } } as const;
  const foreign = { ...own, signature: { dialect: "messages", value: "s" } } as const;
  const text = { type: "text", text: "Hi." } as const;
  const sent = (parts: readonly AssistantPart[], reasoningField?: VendorTraits["reasoningField"]) =>
    Object(write({ turns: [{ role: "assistant", parts }] }, { reasoningField })["messages"])[0];
  expect(sent([call], "reasoning_content")).toMatchObject({ content: null, reasoning_content: "" });
  expect(sent([text], "reasoning_content")).toEqual({ role: "assistant", content: "Hi." });
  expect(sent([foreign, text], "reasoning")).toMatchObject({ reasoning: "Hm." });
  expect(sent([own, text])).toEqual({ role: "assistant", content: "Hi." });
  expect(sent([own, foreign, text], "reasoning_details")["reasoning_details"]).toEqual([
    { type: "reasoning.text", text: "Hm.", signature: "s", format: "unknown", index: 0 },
  ]);
});

test("a refusal goes back beside the text of its turn, and as text where the vendor has no field for it", () => {
  const text = { type: "text", text: "Hi." } as const;
  const refusal = { type: "refusal", text: "No." } as const;
  const sent = (parts: readonly AssistantPart[], takesRefusals: boolean) =>
    Object(write({ turns: [{ role: "assistant", parts }] }, { takesRefusals })["messages"])[0];
  expect(sent([text, refusal], true)).toEqual({ role: "assistant", content: "Hi.", refusal: "No." });
  expect(sent([refusal], true)).toEqual({ role: "assistant", content: null, refusal: "No." });
  expect(sent([text, refusal], false)).toEqual({ role: "assistant", content: "Hi.\n\nNo." });
  expect(sent([refusal], false)).toEqual({ role: "assistant", content: "No." });
});

test("signatures of calls go back to their own protocol alone", () => {
  const call = { type: "tool_call", id: "c", name: "f", kind: "function", arguments: "{}" } as const;
  const sent = (dialect: "chat" | "native") => {
    const parts = [{ ...call, signature: { dialect, value: "sig" } }];
    return JSON.stringify(write({ turns: [{ role: "assistant", parts }] }, {}));
  };
  expect(sent("chat")).toContain('"extra_content":{"google":{"thought_signature":"sig"}}');
  expect(sent("native")).not.toContain("sig");
});

function write(
  change: Partial<Conversation>,
  traits: VendorTraits,
  canReason = true,
): Record<string, unknown> {
  const asked = readConversation(readRequest(Buffer.from(JSON.stringify(ASK))));
  const model: VendorTerms["model"] = {
    id: "m",
    maxOutputTokens: 1000,
    ...(canReason && { reasoning: "effort" }),
  };
  return JSON.parse(
    writeConversation({ ...asked, ...change }, { upstreamModel: "v", traits, coveredTokens: null, model }),
  );
}
