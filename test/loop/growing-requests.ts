import type { TextDialectName } from "../../src/dialects/name.ts";
import { JSON_BOUNDS } from "../../src/lib/parse-json.ts";

/** Bodies of text requests without the model. In each body, one kind of item grows. */
export type Growing = Readonly<Record<string, (count: number) => object>>;

const each = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const schemaOf = (count: number) => ({
  type: "object",
  properties: Object.fromEntries(each(count, (index) => [`n${index}`, {}])),
});
const link = (index: number) => `https://pictures.example/${index}.png`;
const args = '{"a":1.0}';
/** Arguments of a call: JSON inside of a text, with a hundred names. */
const manyNames = JSON.stringify(Object.fromEntries(each(100, (index) => [`n${index}`, 1])));
/** Number of calls. Their arguments together contain `count` numbers. */
const SEVERAL = 16;
const someOf = (count: number) => `{"a":[${"0,".repeat(Math.max(count / SEVERAL - 1, 0))}0]}`;

const chat: Growing = {
  messages: (count) => ({ messages: each(count, () => ({ role: "user", content: "x" })) }),
  "alternating messages": (count) => ({
    messages: each(count, (index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: "x" })),
  }),
  "system messages": (count) => ({
    messages: [{ role: "user", content: "x" }, ...each(count, () => ({ role: "system", content: "x" }))],
  }),
  parts: (count) => ({
    messages: [{ role: "user", content: each(count, () => ({ type: "text", text: "x" })) }],
  }),
  pictures: (count) => ({
    messages: [
      {
        role: "user",
        content: each(count, (index) => ({ type: "image_url", image_url: { url: link(index) } })),
      },
    ],
  }),
  calls: (count) => ({
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        tool_calls: each(count, (index) => ({
          id: `c${index}`,
          type: "function",
          function: { name: "f", arguments: args },
        })),
      },
      ...each(count, (index) => ({ role: "tool", tool_call_id: `c${index}`, content: "x" })),
    ],
  }),
  "names in arguments": (count) => ({
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        tool_calls: each(count, (index) => ({
          id: `c${index}`,
          type: "function",
          function: { name: "f", arguments: manyNames },
        })),
      },
    ],
  }),
  reasoning: (count) => ({
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: "x",
        reasoning_details: each(count, (index) => ({ type: "reasoning.text", text: "x", index })),
      },
      { role: "user", content: "x" },
    ],
  }),
  tools: (count) => ({
    messages: [{ role: "user", content: "x" }],
    tools: each(count, (index) => ({ type: "function", function: { name: `t${index}` } })),
  }),
  "allowed tools": (count) => ({
    messages: [{ role: "user", content: "x" }],
    tools: each(count, (index) => ({ type: "function", function: { name: `t${index}` } })),
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "auto",
        tools: each(count, (index) => ({ type: "function", function: { name: `t${index}` } })),
      },
    },
  }),
  names: (count) => ({
    messages: [{ role: "user", content: "x" }],
    tools: [{ type: "function", function: { name: "t", parameters: schemaOf(count) } }],
  }),
  "stop words": (count) => ({
    messages: [{ role: "user", content: "x" }],
    stop: each(count, (index) => `stop ${index}`),
  }),
  "logit biases": (count) => ({
    messages: [{ role: "user", content: "x" }],
    logit_bias: Object.fromEntries(each(count, (index) => [String(index), 1])),
  }),
  text: (count) => ({ messages: [{ role: "user", content: "x\n".repeat(count) }] }),
};

const messages: Growing = {
  messages: (count) => ({ messages: each(count, () => ({ role: "user", content: "x" })) }),
  "alternating messages": (count) => ({
    messages: each(count, (index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: "x" })),
  }),
  "system parts": (count) => ({
    system: each(count, () => ({ type: "text", text: "x" })),
    messages: [{ role: "user", content: "x" }],
  }),
  parts: (count) => ({
    messages: [
      {
        role: "user",
        content: each(count, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } })),
      },
    ],
  }),
  pictures: (count) => ({
    messages: [
      {
        role: "user",
        content: each(count, (index) => ({ type: "image", source: { type: "url", url: link(index) } })),
      },
    ],
  }),
  documents: (count) => ({
    messages: [
      {
        role: "user",
        content: each(count, () => ({
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "x" },
        })),
      },
    ],
  }),
  calls: (count) => ({
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: each(count, (index) => ({
          type: "tool_use",
          id: `c${index}`,
          name: "f",
          input: { a: 1.5 },
        })),
      },
      {
        role: "user",
        content: each(count, (index) => ({ type: "tool_result", tool_use_id: `c${index}`, content: "x" })),
      },
    ],
  }),
  reasoning: (count) => ({
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: [
          ...each(count, () => ({ type: "thinking", thinking: "x", signature: "x" })),
          { type: "text", text: "x" },
        ],
      },
      { role: "user", content: "x" },
    ],
  }),
  tools: (count) => ({
    messages: [{ role: "user", content: "x" }],
    tools: each(count, (index) => ({ name: `t${index}`, input_schema: { type: "object" } })),
  }),
  names: (count) => ({
    messages: [{ role: "user", content: "x" }],
    tools: [{ name: "t", input_schema: schemaOf(count) }],
  }),
  "stop words": (count) => ({
    messages: [{ role: "user", content: "x" }],
    stop_sequences: each(count, (index) => `stop ${index}`),
  }),
  text: (count) => ({ messages: [{ role: "user", content: "x\n".repeat(count) }] }),
};

const call = (index: number) => ({
  type: "function_call",
  call_id: `c${index}`,
  name: "f",
  arguments: args,
});
const output = (index: number) => ({ type: "function_call_output", call_id: `c${index}`, output: "x" });

const responses: Growing = {
  items: (count) => ({ input: each(count, () => ({ role: "user", content: "x" })) }),
  "alternating items": (count) => ({
    input: each(count, (index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: "x" })),
  }),
  "system items": (count) => ({
    input: [{ role: "user", content: "x" }, ...each(count, () => ({ role: "system", content: "x" }))],
  }),
  parts: (count) => ({
    input: [{ role: "user", content: each(count, () => ({ type: "input_text", text: "x" })) }],
  }),
  pictures: (count) => ({
    input: [
      {
        role: "user",
        content: each(count, (index) => ({ type: "input_image", image_url: link(index) })),
      },
    ],
  }),
  calls: (count) => ({ input: [...each(count, call), ...each(count, output)] }),
  "arguments of several calls": (count) => ({
    input: [
      ...each(SEVERAL, (index) => ({ ...call(index), arguments: someOf(count) })),
      ...each(SEVERAL, output),
    ],
  }),
  "calls with their results": (count) => ({
    input: each(count, (index) => [call(index), output(index)]).flat(),
  }),
  "results behind others": (count) => ({
    input: [
      ...each(count, call),
      ...each(count, (index) => ({ role: index % 2 === 0 ? "developer" : "user", content: "x" })),
      ...each(count, output),
    ],
  }),
  reasoning: (count) => ({
    input: [
      ...each(count, (index) => ({
        type: "reasoning",
        id: `rs_${index}`,
        summary: [{ type: "summary_text", text: "x" }],
        encrypted_content: "x",
      })),
      { role: "user", content: "x" },
    ],
  }),
  tools: (count) => ({
    input: "x",
    tools: each(count, (index) => ({ type: "function", name: `t${index}`, parameters: null, strict: null })),
  }),
  "custom tools": (count) => ({
    input: each(count, (index) => ({
      type: "custom_tool_call",
      call_id: `c${index}`,
      name: `t${index}`,
      input: "x",
    })),
    tools: each(count, (index) => ({ type: "custom", name: `t${index}` })),
  }),
  "allowed tools": (count) => ({
    input: "x",
    tools: each(count, (index) => ({ type: "function", name: `t${index}`, parameters: null, strict: null })),
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: each(count, (index) => ({ type: "function", name: `t${index}` })),
    },
  }),
  names: (count) => ({
    input: "x",
    tools: [{ type: "function", name: "t", parameters: schemaOf(count), strict: null }],
  }),
  text: (count) => ({ input: "x\n".repeat(count) }),
};

const native: Growing = {
  contents: (count) => ({ contents: each(count, () => ({ role: "user", parts: [{ text: "x" }] })) }),
  "alternating contents": (count) => ({
    contents: each(count, (index) => ({ role: index % 2 === 0 ? "user" : "model", parts: [{ text: "x" }] })),
  }),
  parts: (count) => ({ contents: [{ role: "user", parts: each(count, () => ({ text: "x" })) }] }),
  pictures: (count) => ({
    contents: [
      {
        role: "user",
        parts: each(count, (index) => ({ fileData: { mimeType: "image/png", fileUri: link(index) } })),
      },
    ],
  }),
  calls: (count) => ({
    contents: [
      { role: "user", parts: [{ text: "x" }] },
      { role: "model", parts: each(count, () => ({ functionCall: { name: "f", args: { a: 1 } } })) },
      {
        role: "user",
        parts: each(count, () => ({ functionResponse: { name: "f", response: { output: "x" } } })),
      },
    ],
  }),
  numbers: (count) => ({
    contents: [
      { role: "user", parts: [{ text: "x" }] },
      {
        role: "model",
        parts: [{ functionCall: { name: "f", args: { a: each(count, (index) => index + 0.5) } } }],
      },
      {
        role: "user",
        parts: [{ functionResponse: { name: "f", response: { output: "x" } } }],
      },
    ],
  }),
  tools: (count) => ({
    contents: [{ parts: [{ text: "x" }] }],
    tools: [{ functionDeclarations: each(count, (index) => ({ name: `t${index}` })) }],
  }),
  "allowed tools": (count) => ({
    contents: [{ parts: [{ text: "x" }] }],
    tools: [{ functionDeclarations: each(count, (index) => ({ name: `t${index}` })) }],
    toolConfig: {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: each(count, (index) => `t${index}`) },
    },
  }),
  names: (count) => ({
    contents: [{ parts: [{ text: "x" }] }],
    tools: [{ functionDeclarations: [{ name: "t", parametersJsonSchema: schemaOf(count) }] }],
  }),
  "stop words": (count) => ({
    contents: [{ parts: [{ text: "x" }] }],
    generationConfig: { stopSequences: each(count, (index) => `stop ${index}`) },
  }),
  "safety settings": (count) => ({
    contents: [{ parts: [{ text: "x" }] }],
    safetySettings: each(count, () => ({ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" })),
  }),
  text: (count) => ({ contents: [{ parts: [{ text: "x\n".repeat(count) }] }] }),
};

export const GROWING_REQUESTS: Readonly<Record<TextDialectName, Growing>> = {
  chat,
  messages,
  responses,
  native,
};

/**
 * Returns nearly the maximum number of items with which a body keeps the limits of bytes, values, names and escapes.
 */
export function mostOf(make: (count: number) => object, maxBytes: number): number {
  const [few, more] = [costOf(make(100)), costOf(make(200))];
  const room = (cost: keyof Cost, most: number) =>
    ((most - few[cost]) / (more[cost] - few[cost] || 1e-9)) * 100;
  const extra = Math.min(
    room("bytes", maxBytes),
    room("values", JSON_BOUNDS.values),
    room("names", JSON_BOUNDS.names),
    room("escapes", JSON_BOUNDS.escapes),
  );
  return Math.floor(100 + extra * 0.98);
}

interface Cost {
  bytes: number;
  values: number;
  names: number;
  escapes: number;
}

const ARGUMENTS = /(?<="arguments":)("(?:[^"\\]|\\.)*")/g;
const STRING = /"(?:[^"\\]|\\.)*"/g;

function costOf(body: object): Cost {
  // The arguments of calls are JSON inside a text. Arguments are parsed, so they count too.
  const text = JSON.stringify(body).replaceAll(ARGUMENTS, (_, value) => JSON.parse(value));
  const bare = text.replaceAll(STRING, "");
  const count = (pattern: RegExp) => bare.match(pattern)?.length ?? 0;
  const strings = text.match(STRING)?.length ?? 0;
  return {
    bytes: text.length,
    values: JSON_BOUNDS.perString * strings + count(/[,[{]/g),
    names: count(/:/g),
    escapes: text.match(/\\./g)?.length ?? 0,
  };
}
