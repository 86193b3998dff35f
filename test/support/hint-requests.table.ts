import fc, { type Arbitrary } from "fast-check";
import { readRequest as readChat } from "../../src/dialects/chat/index.ts";
import type { TextPayload } from "../../src/dialects/dialect.ts";
import { readRequest as readMessages } from "../../src/dialects/messages/index.ts";
import type { TextDialectName } from "../../src/dialects/name.ts";
import { readRequest as readNative } from "../../src/dialects/native/text/index.ts";
import { readRequest as readResponses } from "../../src/dialects/responses/index.ts";

/* Random requests of each protocol, with their content and their hints. */

export type Body = Readonly<Record<string, unknown>>;
/** Hints of a request, by their names in the header. */
type Hints = Readonly<Record<string, unknown>>;

/** Content of a request. Each text is a word that occurs nowhere else. */
interface Content {
  system: boolean;
  picture: boolean;
  /** True when the model has called the tool. */
  called: boolean;
  tools: boolean;
  forced: boolean;
  stop: boolean;
  schema: boolean;
  document: boolean;
}

const flag = fc.boolean();
const seldom = fc.nat(5).map((value) => value === 0);
const contents: Arbitrary<Content> = fc
  .record({
    system: flag,
    picture: flag,
    called: flag,
    tools: flag,
    forced: seldom,
    stop: seldom,
    schema: seldom,
    document: flag,
  })
  .map((content) => ({ ...content, tools: content.tools || content.called || content.forced }));

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
const PDF = "JVBERi0xLjQK";
const PARAMETERS = {
  type: "object",
  properties: { parameterword: { type: "string" } },
  required: ["parameterword"],
  additionalProperties: false,
};
const SCHEMA = { type: "object", properties: { schemaword: { type: "string" } }, required: ["schemaword"] };

/** Returns the words that the vendor must receive. */
export function wordsOf({ system, picture, called, tools, stop, schema, document }: Content): string[] {
  return [
    "userword",
    "answerword",
    "lastword",
    ...(system ? ["systemword"] : []),
    ...(picture ? [PNG] : []),
    ...(document ? [PDF] : []),
    ...(tools ? ["toolword", "describedword", "parameterword"] : []),
    ...(called ? ["argumentword", "resultword"] : []),
    ...(stop ? ["stopword"] : []),
    ...(schema ? ["schemaword"] : []),
  ];
}

/** Creates and reads requests of one protocol. Each hint is written in its field of the protocol. */
interface HintCaller {
  build(content: Content, hints: Hints): Body;
  read(bytes: Uint8Array): TextPayload;
  /** Hints by their names in the header, with values that have an effect. Some hints need certain content. */
  hints: Readonly<Record<string, { value: Arbitrary<unknown>; isPossible?(content: Content): boolean }>>;
}

const tenths = (from: number, to: number) => fc.integer({ min: from, max: to }).map((value) => value / 10);
const temperature = { value: tenths(0, 20).filter((value) => value !== 1) };
const share = { value: tenths(1, 9) };
const count = { value: fc.integer({ min: 1, max: 100 }) };
const penalty = { value: tenths(1, 20) };
const label = { value: fc.constant({ team: "a" }) };
const word = { value: fc.constant("key") };
const user = { value: fc.integer({ min: 1, max: 300 }).map((length) => "u".repeat(length)) };
const seed = { value: fc.oneof(fc.nat(), fc.integer({ min: 2 ** 31, max: 2 ** 40 })) };
const on = { value: fc.constant(true) };
const onTools = { ...on, isPossible: ({ tools }: Content) => tools };
const onPicture = { ...on, isPossible: ({ picture }: Content) => picture };
const onDocument = { ...on, isPossible: ({ document }: Content) => document };
const onSystem = { ...on, isPossible: ({ system }: Content) => system };
const effort = { value: fc.constantFrom("minimal", "low", "medium", "high", "xhigh", "max") };
const verbosity = { value: fc.constantFrom("low", "high") };

/** Returns the hints whose name in the header equals their field in the body. */
function plainHints(hints: Hints, special: readonly string[]): Body {
  return Object.fromEntries(Object.entries(hints).filter(([name]) => !special.includes(name)));
}

const MARK = { cache_control: { type: "ephemeral" } };

const chat: HintCaller = {
  read: readChat,
  hints: {
    temperature,
    top_p: share,
    top_k: count,
    seed,
    presence_penalty: penalty,
    frequency_penalty: penalty,
    verbosity,
    reasoning_effort: effort,
    user,
    metadata: label,
    prompt_cache_key: word,
    prediction: { value: fc.constant({ type: "content", content: "x" }) },
    min_p: share,
    parallel_tool_calls: { ...onTools, value: fc.constant(false) },
    "messages.name": on,
    "tools.strict": onTools,
    detail: onPicture,
    cache_control: on,
    filename: onDocument,
  },
  build(content, hints) {
    const named = hints["messages.name"] ? { name: "model" } : {};
    const detail = hints["detail"] ? { detail: "low" } : {};
    const filename = hints["filename"] ? { filename: "named.pdf" } : {};
    const call = { name: "toolword", arguments: '{"parameterword":"argumentword"}' };
    const { tools, called, forced, stop, schema, picture, document, system } = content;
    return {
      ...plainHints(hints, ["messages.name", "tools.strict", "detail", "cache_control", "filename"]),
      model: "public",
      messages: [
        ...(system ? [{ role: "system", content: "systemword" }] : []),
        {
          role: "user",
          content: [
            { type: "text", text: "userword", ...(hints["cache_control"] ? MARK : {}) },
            ...(picture
              ? [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, ...detail } }]
              : []),
            ...(document
              ? [{ type: "file", file: { file_data: `data:application/pdf;base64,${PDF}`, ...filename } }]
              : []),
          ],
        },
        {
          role: "assistant",
          ...named,
          content: "answerword",
          ...(called && { tool_calls: [{ id: "c1", type: "function", function: call }] }),
        },
        ...(called ? [{ role: "tool", tool_call_id: "c1", content: "resultword" }] : []),
        { role: "user", content: "lastword" },
      ],
      ...(tools && {
        tools: [{ type: "function", function: { ...TOOL, ...strictness(hints), parameters: PARAMETERS } }],
      }),
      ...(forced && { tool_choice: { type: "function", function: { name: "toolword" } } }),
      ...(stop && { stop: ["stopword"] }),
      ...(schema && {
        response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
      }),
    };
  },
};

const TOOL = { name: "toolword", description: "describedword" };

function strictness(hints: Hints): object {
  return hints["tools.strict"] ? { strict: true } : {};
}

const messages: HintCaller = {
  read: (bytes) => readMessages(bytes, new Headers()),
  hints: {
    temperature: { value: tenths(0, 9) },
    top_p: share,
    top_k: count,
    thinking: { value: fc.integer({ min: 1_024, max: 4_000 }) },
    "metadata.user_id": user,
    context_management: { value: fc.constant({ edits: [{ type: "clear_tool_uses_20250919" }] }) },
    user_profile_id: word,
    workspace_id: word,
    diagnostics: label,
    "tool_choice.disable_parallel_tool_use": onTools,
    "tools.strict": onTools,
    cache_control: onSystem,
    title: onDocument,
  },
  build(content, hints) {
    const { tools, called, forced, stop, schema, picture, document, system } = content;
    const source = (media_type: string, data: string) => ({ type: "base64", media_type, data });
    const single = hints["tool_choice.disable_parallel_tool_use"] ? { disable_parallel_tool_use: true } : {};
    const choice = forced ? { type: "tool", name: "toolword" } : { type: "auto" };
    const special = ["thinking", "metadata.user_id", "tool_choice.disable_parallel_tool_use"];
    return {
      ...plainHints(hints, [...special, "tools.strict", "cache_control", "title"]),
      model: "public",
      max_tokens: 9_000,
      ...(hints["thinking"] !== undefined && {
        thinking: { type: "enabled", budget_tokens: hints["thinking"] },
      }),
      ...(hints["metadata.user_id"] !== undefined && { metadata: { user_id: hints["metadata.user_id"] } }),
      ...(system && {
        system: [{ type: "text", text: "systemword", ...(hints["cache_control"] ? MARK : {}) }],
      }),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "userword" },
            ...(picture ? [{ type: "image", source: source("image/png", PNG) }] : []),
            ...(document
              ? [
                  {
                    type: "document",
                    source: source("application/pdf", PDF),
                    ...(hints["title"] ? { title: "named.pdf" } : {}),
                  },
                ]
              : []),
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "answerword" },
            ...(called
              ? [{ type: "tool_use", id: "c1", name: "toolword", input: { parameterword: "argumentword" } }]
              : []),
          ],
        },
        {
          role: "user",
          content: [
            ...(called ? [{ type: "tool_result", tool_use_id: "c1", content: "resultword" }] : []),
            { type: "text", text: "lastword" },
          ],
        },
      ],
      ...(tools && {
        tools: [{ ...TOOL, ...strictness(hints), input_schema: PARAMETERS }],
        tool_choice: { ...choice, ...single },
      }),
      ...(stop && { stop_sequences: ["stopword"] }),
      ...(schema && { output_config: { format: { type: "json_schema", schema: SCHEMA } } }),
    };
  },
};

const responses: HintCaller = {
  read: readResponses,
  hints: {
    temperature,
    top_p: share,
    "text.verbosity": verbosity,
    reasoning: effort,
    user,
    metadata: label,
    client_metadata: label,
    prompt_cache_key: word,
    max_tool_calls: count,
    truncation: { value: fc.constant("auto") },
    context_management: { value: fc.constant([{ type: "compaction", compact_threshold: 1_000 }]) },
    parallel_tool_calls: { ...onTools, value: fc.constant(false) },
    "tools.strict": onTools,
    detail: onPicture,
    filename: onDocument,
  },
  build(content, hints) {
    const { tools, called, forced, stop: _stop, schema, picture, document, system } = content;
    const call = { call_id: "c1", name: "toolword", arguments: '{"parameterword":"argumentword"}' };
    const url = (type: string, data: string) => `data:${type};base64,${data}`;
    const format = { type: "json_schema", name: "answer", schema: SCHEMA };
    const verb = hints["text.verbosity"];
    const special = ["text.verbosity", "reasoning", "tools.strict", "detail", "filename"];
    return {
      ...plainHints(hints, special),
      model: "public",
      ...(system && { instructions: "systemword" }),
      ...(hints["reasoning"] !== undefined && { reasoning: { effort: hints["reasoning"] } }),
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "userword" },
            ...(picture
              ? [
                  {
                    type: "input_image",
                    image_url: url("image/png", PNG),
                    ...(hints["detail"] ? { detail: "low" } : {}),
                  },
                ]
              : []),
            ...(document
              ? [
                  {
                    type: "input_file",
                    file_data: url("application/pdf", PDF),
                    ...(hints["filename"] ? { filename: "named.pdf" } : {}),
                  },
                ]
              : []),
          ],
        },
        { role: "assistant", content: [{ type: "output_text", text: "answerword" }] },
        ...(called
          ? [
              { type: "function_call", ...call },
              { type: "function_call_output", call_id: "c1", output: "resultword" },
            ]
          : []),
        { role: "user", content: "lastword" },
      ],
      ...(tools && { tools: [{ type: "function", ...TOOL, ...strictness(hints), parameters: PARAMETERS }] }),
      ...(forced && { tool_choice: { type: "function", name: "toolword" } }),
      ...((schema || verb !== undefined) && {
        text: { ...(schema && { format }), ...(verb !== undefined && { verbosity: verb }) },
      }),
    };
  },
};

const CONFIG = "generationConfig.";
const native: HintCaller = {
  read: (bytes) => readNative(bytes, { model: "public", isStream: false }),
  hints: {
    [`${CONFIG}temperature`]: temperature,
    [`${CONFIG}topP`]: share,
    [`${CONFIG}topK`]: count,
    [`${CONFIG}seed`]: { value: fc.nat() },
    [`${CONFIG}presencePenalty`]: penalty,
    [`${CONFIG}frequencyPenalty`]: penalty,
    [`${CONFIG}mediaResolution`]: { value: fc.constant("MEDIA_RESOLUTION_LOW") },
    [`${CONFIG}thinkingConfig`]: {
      value: fc.integer({ min: 1_024, max: 4_000 }).map((thinkingBudget) => ({ thinkingBudget })),
    },
    labels: label,
  },
  build(content, hints) {
    const { tools, called, forced, stop, schema, picture, document, system } = content;
    const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
    const config = Object.entries(hints).flatMap(([name, value]) =>
      name.startsWith(CONFIG) ? [[name.slice(CONFIG.length), value]] : [],
    );
    const call = { id: "c1", name: "toolword", args: { parameterword: "argumentword" } };
    const result = { id: "c1", name: "toolword", response: { output: "resultword" } };
    return {
      ...(hints["labels"] !== undefined && { labels: hints["labels"] }),
      ...(system && { systemInstruction: { parts: [{ text: "systemword" }] } }),
      contents: [
        {
          role: "user",
          parts: [
            { text: "userword" },
            ...(picture ? [inline("image/png", PNG)] : []),
            ...(document ? [inline("application/pdf", PDF)] : []),
          ],
        },
        { role: "model", parts: [{ text: "answerword" }, ...(called ? [{ functionCall: call }] : [])] },
        { role: "user", parts: [...(called ? [{ functionResponse: result }] : []), { text: "lastword" }] },
      ],
      ...(tools && { tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: PARAMETERS }] }] }),
      ...(forced && {
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["toolword"] } },
      }),
      generationConfig: {
        ...Object.fromEntries(config),
        ...(stop && { stopSequences: ["stopword"] }),
        ...(schema && { responseMimeType: "application/json", responseJsonSchema: SCHEMA }),
      },
    };
  },
};

export const HINT_CALLERS: Readonly<Record<TextDialectName, HintCaller>> = {
  chat,
  messages,
  responses,
  native,
};

interface Asked {
  content: Content;
  hints: Hints;
}

export function requestsOf({ hints }: HintCaller): Arbitrary<Asked> {
  const values = Object.fromEntries(Object.entries(hints).map(([name, { value }]) => [name, value]));
  return fc
    .tuple(contents, fc.record(values, { requiredKeys: [] }), fc.infiniteStream(fc.nat(2)))
    .map(([content, all, dice]) => {
      // Keeps a third of the hints, so that few occur together.
      const few = Object.entries(all).filter(([name]) => {
        const isPossible = hints[name]?.isPossible?.(content) ?? true;
        return Number(dice.next().value) === 0 && isPossible;
      });
      return { content, hints: Object.fromEntries(few) };
    });
}
