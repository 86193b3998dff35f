import { describe, expect, test } from "bun:test";
import type { Conversation, Turn } from "../conversation/request.ts";
import type { VendorTerms } from "../dialect.ts";
import { messages } from "./index.ts";

const terms = (reasoning?: VendorTerms["model"]["reasoning"], maxOutputTokens = 64_000): VendorTerms => ({
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "public", maxOutputTokens, ...(reasoning && { reasoning }) },
});
const BASE: Conversation = {
  isStream: false,
  system: [],
  turns: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
  tools: [],
  toolChoice: null,
  parallelCalls: null,
  maxTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  stop: [],
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  logprobs: null,
  format: null,
  reasoning: null,
  verbosity: null,
  user: null,
  cacheKey: null,
  ownHints: [],
  ownFields: [],
  params: { turns: "input", temperature: "temp" },
};
const tool = { kind: "function", name: "f", description: null, parameters: null, strict: true } as const;
const call = (id: string, args = "{}") =>
  ({ type: "tool_call", id, name: "f", kind: "function", arguments: args }) as const;
const result = (callId: string) =>
  ({ type: "tool_result", callId, parts: [{ type: "text", text: "ok" }], isError: false }) as const;
const text = (value: string) => ({ type: "text", text: value }) as const;
const user = (...parts: Extract<Turn, { role: "user" }>["parts"]): Turn => ({ role: "user", parts });
const assistant = (...parts: Extract<Turn, { role: "assistant" }>["parts"]): Turn => ({
  role: "assistant",
  parts,
});

const write = (change: Partial<Conversation>, of = terms()) =>
  JSON.parse(messages.writeConversation({ ...BASE, ...change }, of));
const refusal = (change: Partial<Conversation>, of = terms()): unknown => {
  try {
    return write(change, of);
  } catch (error) {
    return error;
  }
};
const kinds = (turns: Turn[]) =>
  write({ turns }).messages.map(({ role, content }: { role: string; content: { type: string }[] }) => [
    role,
    ...content.map(({ type }) => type),
  ]);

describe("the turns that a vendor gets", () => {
  test("begin with the user's", () => {
    expect(kinds([assistant(text("a")), user(text("b"))])).toEqual([
      ["user", "text"],
      ["assistant", "text"],
      ["user", "text"],
    ]);
  });

  test("take turns, without empty texts, and with instructions as the user's", () => {
    const turns: Turn[] = [
      user(text("a"), text("")),
      user(text("b")),
      assistant(text("")),
      { role: "system", parts: [text("c")] },
    ];
    expect(kinds(turns)).toEqual([["user", "text", "text", "text"]]);
  });

  test("have no text of white space alone", () => {
    const { system, messages: turns } = write({
      system: [text(" ")],
      turns: [
        user(text("q"), text("\n")),
        assistant(text("\n\n"), call("a")),
        user({ ...result("a"), parts: [text(" ")] }),
        assistant(text(" ")),
      ],
    });
    expect(system).toBeUndefined();
    expect(turns).toEqual([
      { role: "user", content: [{ type: "text", text: "q" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
    ]);
  });

  test("answer every call first, those without a result too", () => {
    const turns = [user(text("a")), assistant(call("1"), call("2")), user(text("b"), result("2"))];
    expect(kinds(turns)).toEqual([
      ["user", "text"],
      ["assistant", "tool_use", "tool_use"],
      ["user", "tool_result", "tool_result", "text"],
    ]);
    const { content } = write({ turns }).messages[2];
    expect(content.map((each: { tool_use_id?: string }) => each.tool_use_id)).toEqual(["2", "1", undefined]);
    expect(content[1]).toMatchObject({ is_error: true });
    expect(kinds([user(text("a")), assistant(call("1"))]).at(-1)).toEqual(["user", "tool_result"]);
  });

  test("cannot have a result without its call, arguments of another kind, or sound", () => {
    const rejected = { kind: "rejected", isUnsent: true, param: "input" };
    expect(refusal({ turns: [user(result("1"))] })).toMatchObject(rejected);
    expect(refusal({ turns: [user(text("a")), assistant(call("1", "[1"))] })).toMatchObject(rejected);
    expect(refusal({ turns: [user({ type: "audio", format: "wav", data: "" })] })).toMatchObject(rejected);
    expect(refusal({ turns: [] })).toMatchObject(rejected);
  });

  test("keep the arguments of calls character for character, and none as an empty object", () => {
    const args = '{ "n": 12345678901234567890, "f": 1.0, "e": "\\u00e9" }';
    const turns = [
      user(text("a")),
      assistant(call("1", args), call("2", "")),
      user(result("1"), result("2")),
    ];
    const raw = messages.writeConversation({ ...BASE, turns }, terms());
    expect(raw).toContain(`"input":${args}`);
    expect(raw).toContain('"input":{}');
  });

  test("have pictures by what they are", () => {
    const picture = { type: "image", source: { mediaType: "image/png", data: "/9j/4AAQ" } } as const;
    expect(write({ turns: [user(picture)] }).messages[0].content[0].source.media_type).toBe("image/jpeg");
    const other = { type: "image", source: { mediaType: "image/tiff", data: "SUkq" } } as const;
    expect(refusal({ turns: [user(other)] })).toMatchObject({ param: "input" });
  });

  test("have at most four marks of the cache, the first ones", () => {
    const parts = ["1", "2", "3", "4", "5"].map((each) => ({
      ...text(each),
      cacheControl: { type: "ephemeral" },
    }));
    const { content } = write({ turns: [user(...parts)] }).messages[0];
    expect(content.filter((block: object) => "cache_control" in block)).toHaveLength(4);
    expect(content[4]).toEqual(text("5"));
  });
});

describe("the fields that a vendor gets", () => {
  test("have a maximum: the caller's, the one that a budget covers, or the model's", () => {
    expect(write({}).max_tokens).toBe(64_000);
    expect(write({}, { ...terms(), coveredTokens: 300 }).max_tokens).toBe(300);
    expect(write({ maxTokens: 10 }).max_tokens).toBe(10);
    expect(write({ maxTokens: 100_000 }).max_tokens).toBe(64_000);
  });

  test.each<[string, Partial<Conversation>, VendorTerms, object]>([
    [
      "a budget",
      { effort: "low" } as never,
      terms("budget"),
      { thinking: { type: "enabled", budget_tokens: 1_024 } },
    ],
    [
      "a least budget",
      { effort: "minimal" } as never,
      terms("budget"),
      { thinking: { type: "enabled", budget_tokens: 1_024 } },
    ],
    [
      "a budget below the maximum",
      { effort: "max" } as never,
      terms("budget", 9_000),
      { thinking: { type: "enabled", budget_tokens: 8_999 } },
    ],
    ["none at all", { effort: "none" } as never, terms("budget"), { thinking: { type: "disabled" } }],
    [
      "a word",
      { effort: "xhigh" } as never,
      terms("adaptive"),
      { thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } },
    ],
    ["a least word", { effort: "none" } as never, terms("adaptive"), { output_config: { effort: "low" } }],
    ["nothing where it cannot be told", { effort: "high" } as never, terms(), {}],
    ["nothing where the maximum leaves no budget", { effort: "high" } as never, terms("budget", 1_000), {}],
  ])("tell of reasoning %s", (_, reasoning, of, expected) => {
    const { thinking, output_config } = write(
      { reasoning: { effort: null, budgetTokens: null, isVisible: null, ...reasoning } },
      of,
    );
    expect({ ...(thinking && { thinking }), ...(output_config && { output_config }) }).toEqual(expected);
  });

  test("have sampling within what vendors take", () => {
    expect(write({ temperature: 0.7, topP: 0.5 })).toMatchObject({ temperature: 0.7 });
    expect(write({ temperature: 0.7, topP: 0.5 }).top_p).toBeUndefined();
    expect(write({ temperature: 1.7, topP: 0.5 })).toMatchObject({ top_p: 0.5 });
    expect(write({ topP: 0.5, topK: 3 })).toMatchObject({ top_p: 0.5, top_k: 3 });
    expect(write({ temperature: 0.5 }, terms("adaptive")).temperature).toBeUndefined();
  });

  test("offer only the allowed tools, as schemas of objects, and no choice without any", () => {
    const tools = [tool, { ...tool, name: "g", parameters: { properties: { a: {} } } }];
    expect(write({ tools, toolChoice: { type: "allowed", mode: "required", names: ["g"] } })).toMatchObject({
      tools: [{ name: "g", input_schema: { type: "object", properties: { a: {} } } }],
      tool_choice: { type: "any" },
    });
    expect(write({ toolChoice: { type: "auto" }, parallelCalls: false }).tool_choice).toBeUndefined();
    expect(write({ tools, parallelCalls: false }).tool_choice).toEqual({
      type: "auto",
      disable_parallel_tool_use: true,
    });
  });

  test("do not force a tool beside a budget of thinking", () => {
    const reasoning = { effort: "high", budgetTokens: null, isVisible: null } as const;
    const body = write({ tools: [tool], toolChoice: { type: "required" }, reasoning }, terms("budget"));
    expect(body.thinking).toBeUndefined();
    expect(body.tool_choice).toEqual({ type: "any" });
  });

  test("ask for JSON in words where there is no schema", () => {
    expect(write({ format: { type: "json" }, system: [text("Be brief.")] }).system).toEqual([
      text("Be brief."),
      text("Answer with a single JSON object and nothing else."),
    ]);
  });
});
