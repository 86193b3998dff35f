import fc, { type Arbitrary } from "fast-check";
import { EFFORTS, type Reasoning } from "../../src/dialects/conversation/reasoning.ts";
import type { Finish, Reply } from "../../src/dialects/conversation/reply.ts";
import type {
  AssistantPart,
  Conversation,
  MediaSource,
  OutputFormat,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
  Turn,
  UserPart,
} from "../../src/dialects/conversation/request.ts";
import type { Signature } from "../../src/dialects/conversation/signature.ts";
import type { TextDialectName } from "../../src/dialects/name.ts";
import type { UsageReport } from "../../src/domain/usage.ts";

// Conversations and replies of every kind in the neutral form, in an order that every vendor accepts. Roles alternate,
// every call gets its result at the start of the next turn, and no text part is empty.

const UNUSUAL = ["é", "語", "🙂", '"', "\\", "\n", "\u2028", "</", " ", "{", "data: ", "\u0000", "0.10"];
export const text: Arbitrary<string> = fc
  .array(fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }), fc.constantFrom(...UNUSUAL)), {
    minLength: 1,
    maxLength: 5,
  })
  .map((pieces) => pieces.join(""))
  // A text of white space gets a full stop, because vendors trim or refuse such texts.
  .map((joined) => (joined.trim() === "" ? `${joined}.` : joined));

const NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
const word = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...NAME_CHARACTERS), minLength: 1, maxLength });

/** JSON text of an object, at times with a number beyond double precision, white space or an escape. */
const argumentsText: Arbitrary<string> = fc.oneof(
  fc.constantFrom("{}", '{"id":12345678901234567890}', '{ "a" : 1.0, "b":[ ] }', '{"a":{"b":"\\u00e9"}}'),
  fc
    .dictionary(word(6), fc.oneof(text, fc.integer(), fc.boolean()), { maxKeys: 3 })
    .map((value) => JSON.stringify(value)),
);

const signature: Arbitrary<Signature> = fc.record({
  dialect: fc.constantFrom<TextDialectName>("chat", "messages", "responses", "native"),
  value: fc.base64String({ minLength: 4, maxLength: 24 }),
});

const cacheControl = fc.option(fc.constant({ cacheControl: { type: "ephemeral" } }), { nil: {} });
const textPart: Arbitrary<TextPart> = fc
  .tuple(text, cacheControl)
  .map(([value, cached]) => ({ type: "text", text: value, ...cached }));

const picture = fc.constant(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
const link = word(8).map((name) => `https://pictures.example/${name}.png`);
const imageSource: Arbitrary<MediaSource> = fc.oneof(
  picture.map((data) => ({ mediaType: "image/png", data })),
  link.map((url) => ({ url })),
);

const mediaPart: Arbitrary<UserPart> = fc.oneof(
  fc
    .tuple(imageSource, fc.option(fc.constantFrom("low", "high", "auto"), { nil: undefined }))
    .map(([source, detail]): UserPart => ({ type: "image", source, ...(detail && { detail }) })),
  fc.constantFrom("wav", "mp3").map((format): UserPart => ({ type: "audio", format, data: "UklGRg==" })),
  word(8).map((name): UserPart => {
    return {
      type: "file",
      source: { mediaType: "application/pdf", data: "JVBERi0xLjQ=" },
      name: `${name}.pdf`,
    };
  }),
);

const schema: Arbitrary<Readonly<Record<string, unknown>>> = fc.constantFrom(
  { type: "object", properties: {} },
  {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
);

const customTool = fc.record({
  kind: fc.constant("custom" as const),
  name: word(12),
  description: text,
  parameters: fc.constant(null),
  strict: fc.constant(null),
});
const functionTool = fc.record({
  kind: fc.constant("function" as const),
  name: word(12),
  description: fc.option(text),
  parameters: schema,
  strict: fc.constantFrom(null, true, false),
});
const tools: Arbitrary<readonly Tool[]> = fc.uniqueArray(
  fc.oneof({ weight: 4, arbitrary: functionTool }, { weight: 1, arbitrary: customTool }),
  { minLength: 1, maxLength: 3, selector: ({ name }) => name },
);

function toolChoice(offered: readonly Tool[]): Arbitrary<ToolChoice | null> {
  const names = offered.map(({ name }) => name);
  return fc.oneof(
    fc.constant(null),
    fc.constantFrom<ToolChoice>({ type: "auto" }, { type: "none" }, { type: "required" }),
    fc.constantFrom(...names).map((name): ToolChoice => ({ type: "tool", name })),
    fc
      .tuple(fc.constantFrom("auto" as const, "required" as const), fc.subarray(names, { minLength: 1 }))
      .map(([mode, allowed]): ToolChoice => ({ type: "allowed", mode, names: allowed })),
  );
}

/** Returns a call of one of the tools. The call gets its id later, when all ids of the conversation are known. */
function call(offered: readonly Tool[]): Arbitrary<ToolCall> {
  return fc
    .tuple(
      fc.constantFrom(...offered),
      argumentsText,
      text,
      fc.option(signature, { nil: undefined, freq: 3 }),
    )
    .map(([{ name, kind }, json, input, signed]) => {
      const args = kind === "function" ? json : input;
      return { type: "tool_call", id: "", name, kind, arguments: args, ...(signed && { signature: signed }) };
    });
}

const reasoningPart: Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant("reasoning" as const), text, signature }),
  fc.record({
    type: fc.constant("reasoning" as const),
    text: fc.constant(""),
    signature,
    isRedacted: fc.constant(true as const),
  }),
);
/** Reasoning of vendors without signatures has at most one piece. */
const reasoningParts: Arbitrary<readonly AssistantPart[]> = fc.oneof(
  fc.constant([]),
  fc.array(reasoningPart, { minLength: 1, maxLength: 2 }),
  text.map((value) => [{ type: "reasoning" as const, text: value, signature: null }]),
);

function assistantParts(offered: readonly Tool[]): Arbitrary<readonly AssistantPart[]> {
  const said = fc.array(fc.record({ type: fc.constant("text" as const), text }), { maxLength: 1 });
  const refused = fc.record({ type: fc.constant("refusal" as const), text });
  const called = fc.array(call(offered), { maxLength: 3 });
  return fc
    .tuple(reasoningParts, said, called, fc.boolean(), refused)
    .map(([reasoning, texts, calls, isRefusal, refusal]) => {
      if (isRefusal && calls.length === 0 && texts.length === 0) return [...reasoning, refusal];
      return [...reasoning, ...texts, ...calls];
    })
    .filter((parts) => parts.some(({ type }) => type !== "reasoning"));
}

const userParts = fc.array(
  fc.oneof({ weight: 4, arbitrary: textPart }, { weight: 1, arbitrary: mediaPart }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

interface Round {
  asked: readonly UserPart[];
  answered: readonly AssistantPart[];
  results: readonly { parts: readonly TextPart[]; isError: boolean }[];
  instruction: readonly TextPart[] | null;
}

function turns(offered: readonly Tool[], mayEndWithAnswer: boolean): Arbitrary<Turn[]> {
  const result = fc.record({ parts: fc.array(textPart, { maxLength: 2 }), isError: fc.boolean() });
  const round: Arbitrary<Round> = fc.record({
    asked: userParts,
    answered: assistantParts(offered),
    results: fc.array(result, { minLength: 3, maxLength: 3 }),
    instruction: fc.option(fc.array(textPart, { minLength: 1, maxLength: 2 }), { freq: 5 }),
  });
  return fc
    .tuple(userParts, fc.array(round, { maxLength: 3 }), fc.boolean())
    .map(([first, rounds, endsWithAnswer]) => joinRounds(first, rounds, endsWithAnswer && mayEndWithAnswer));
}

function joinRounds(first: readonly UserPart[], rounds: readonly Round[], endsWithAnswer: boolean): Turn[] {
  const joined: Turn[] = [{ role: "user", parts: first }];
  let calls = 0;
  rounds.forEach(({ asked, answered, results, instruction }, index) => {
    const parts = answered.map((part) =>
      part.type === "tool_call" ? { ...part, id: `call_${calls++}` } : part,
    );
    joined.push({ role: "assistant", parts });
    const called = parts.filter((part) => part.type === "tool_call");
    if (endsWithAnswer && index === rounds.length - 1 && called.length === 0) return;
    const answers = called.map(({ id }, at): ToolResult => {
      return { type: "tool_result", callId: id, parts: [], isError: false, ...results[at] };
    });
    joined.push({ role: "user", parts: [...answers, ...asked] });
    if (instruction && index < rounds.length - 1) joined.push({ role: "system", parts: instruction });
  });
  return joined;
}

const outputFormat: Arbitrary<OutputFormat | null> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  fc.constant({ type: "json" as const }),
  fc.record({
    type: fc.constant("schema" as const),
    name: word(10),
    schema,
    strict: fc.constantFrom(null, true),
    description: fc.option(text),
  }),
);

const reasoning: Arbitrary<Reasoning | null> = fc.option(
  fc.record({
    effort: fc.option(fc.constantFrom(...EFFORTS)),
    budgetTokens: fc.option(fc.integer({ min: 1_024, max: 20_000 })),
    isVisible: fc.constantFrom(null, true, false),
  }),
);

const tenth = (max: number) => fc.integer({ min: 0, max: 10 * max }).map((value) => value / 10);

/** Conversations with empty `params`. */
export const conversations: Arbitrary<Conversation> = fc
  .tuple(fc.option(tools, { freq: 2 }), fc.boolean())
  .chain(([offered, mayEnd]) =>
    fc.record({
      isStream: fc.boolean(),
      system: fc.array(textPart, { maxLength: 2 }),
      turns: turns(offered ?? [SOME_TOOL], mayEnd),
      tools: fc.constant(offered ?? []),
      toolChoice: offered ? toolChoice(offered) : fc.constant(null),
      parallelCalls: offered ? fc.constantFrom(null, true, false) : fc.constant(null),
      maxTokens: fc.option(fc.integer({ min: 1, max: 64_000 })),
      temperature: fc.option(tenth(2)),
      topP: fc.option(tenth(1)),
      topK: fc.option(fc.integer({ min: 1, max: 100 }), { freq: 5 }),
      stop: fc.array(word(5), { maxLength: 4 }),
      seed: fc.option(fc.nat()),
      presencePenalty: fc.option(tenth(2)),
      frequencyPenalty: fc.option(tenth(2)),
      format: outputFormat,
      reasoning,
      logprobs: fc.constant(null),
      verbosity: fc.option(fc.constantFrom("low", "medium", "high")),
      user: fc.option(word(20)),
      cacheKey: fc.option(word(20)),
      ownHints: fc.constant([]),
      ownFields: fc.constant([]),
      params: fc.constant({}),
    }),
  );

/** A tool for conversations that continue without their earlier tools. */
const SOME_TOOL: Tool = {
  kind: "function",
  name: "look_up",
  description: null,
  parameters: { type: "object", properties: {} },
  strict: null,
};

const count = fc.integer({ min: 1, max: 100_000 });
/** A usage report. A category is absent or has at least one token. */
const report: Arbitrary<UsageReport> = fc
  .tuple(
    fc.record({ input: count, output: count }),
    fc.record(
      { cacheRead: count, cacheWrite: count, cacheWrite1h: count, reasoning: count },
      { requiredKeys: [] },
    ),
  )
  .map(([sure, more]) => {
    return { tokens: { ...sure, ...more }, hasInput: true, hasOutput: true, isAnomalous: false };
  });

const finish: Arbitrary<Finish> = fc.record({
  reason: fc.constantFrom("stop", "length", "refused"),
  stopSequence: fc.constant(null),
});

/**
 * Complete replies. Reasoning comes first, then text or a refusal, then calls. With calls, the finish reason is
 * `tool_calls`.
 */
export const replies: Arbitrary<Reply> = fc
  .tuple(word(20), tools.chain(assistantParts), finish, report)
  .map(([id, parts, ended, reported]) => {
    let calls = 0;
    const numbered = parts.map((part) =>
      part.type === "tool_call" ? { ...part, id: `call_${calls++}` } : part,
    );
    const reason = calls > 0 ? "tool_calls" : ended.reason;
    return { id, parts: numbered, finish: { ...ended, reason }, report: reported };
  });
