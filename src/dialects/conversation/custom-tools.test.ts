import { expect, test } from "bun:test";
import { CustomToolsAsFunctions } from "./custom-tools.ts";
import { collectReply, type ReplyEvent, type ReplyReader } from "./reply.ts";
import type { Conversation, Tool } from "./request.ts";

const PATCH: Tool = {
  kind: "custom",
  name: "apply_patch",
  description: "Edits files.",
  parameters: null,
  strict: null,
  format: { type: "grammar", syntax: "lark", definition: 'start: "x"' },
};

const CONVERSATION: Conversation = {
  isStream: true,
  system: [],
  turns: [
    {
      role: "assistant",
      parts: [{ type: "tool_call", id: "c1", name: "apply_patch", kind: "custom", arguments: 'a "b"\n' }],
    },
  ],
  tools: [PATCH],
  toolChoice: null,
  parallelCalls: null,
  maxTokens: null,
  temperature: null,
  logprobs: null,
  topP: null,
  topK: null,
  stop: [],
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  format: null,
  reasoning: null,
  verbosity: null,
  user: null,
  cacheKey: null,
  ownHints: [],
  ownFields: [],
  params: {},
};

test("a custom tool is offered as a function of one text, its grammar in the description", () => {
  const { tools, turns } = new CustomToolsAsFunctions(CONVERSATION).conversation;
  expect(tools[0]).toMatchObject({
    kind: "function",
    name: "apply_patch",
    parameters: { required: ["input"], properties: { input: { type: "string" } } },
  });
  expect(tools[0]!.description).toContain("Edits files.");
  expect(tools[0]!.description).toContain('start: "x"');
  expect(turns[0]!.parts[0]).toMatchObject({ kind: "function", arguments: '{"input":"a \\"b\\"\\n"}' });
});

test("a grammar without a syntax is named without one", () => {
  const tool = { ...PATCH, format: { type: "grammar", definition: "x" } };
  const { tools } = new CustomToolsAsFunctions({ ...CONVERSATION, tools: [tool] }).conversation;
  expect(tools[0]!.description).toBe("Edits files.\n\n`input` must match this grammar:\nx");
});

test("calls of its function become calls of the custom tool, whole and streamed in any pieces", () => {
  const tools = new CustomToolsAsFunctions(CONVERSATION);
  const json = '{"input":"one {two}\\n\\u00e9"}';
  const part = { type: "tool_call" as const, id: "c2", name: "apply_patch", arguments: json };
  const reply = {
    id: "r",
    parts: [{ ...part, kind: "function" as const }],
    finish: { reason: "tool_calls" as const, stopSequence: null },
    report: null,
  };
  const expected = [{ ...part, kind: "custom", arguments: "one {two}\né" }];
  expect(tools.readReply(reply).parts).toEqual(expected as never);
  for (let size = 1; size <= json.length; size += 1) {
    const events: ReplyEvent[] = [
      { type: "call", call: 0, id: "c2", name: "apply_patch", kind: "function" },
      ...(json.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).map((text): ReplyEvent => ({
        type: "arguments",
        call: 0,
        text,
      })),
      { type: "finish", finish: reply.finish },
    ];
    const read = [...tools.wrap(readerOf(events)).read("")];
    expect(collectReply(read).parts).toEqual(expected as never);
  }
});

test("a whole reply keeps its uses, its log probabilities and content of other protocols", () => {
  const reply = {
    id: "r",
    parts: [],
    finish: { reason: "stop" as const, stopSequence: null },
    report: null,
    uses: ["web_search" as const],
    logprobs: [{ token: "a", logprob: -1, bytes: null, top_logprobs: [] }],
    hasOther: true,
  };
  expect(new CustomToolsAsFunctions(CONVERSATION).readReply(reply)).toEqual(reply);
});

test("arguments of another form go on as they are", () => {
  const tools = new CustomToolsAsFunctions(CONVERSATION);
  const read = [
    ...tools
      .wrap(
        readerOf([
          { type: "call", call: 0, id: "c2", name: "apply_patch", kind: "function" },
          { type: "arguments", call: 0, text: '{"patch":"x"}' },
          { type: "finish", finish: { reason: "tool_calls", stopSequence: null } },
        ]),
      )
      .read(""),
  ];
  expect(collectReply(read).parts).toMatchObject([{ kind: "custom", arguments: '{"patch":"x"}' }]);
});

function readerOf(events: readonly ReplyEvent[]): ReplyReader {
  return { isDone: false, isComplete: true, read: () => events };
}
