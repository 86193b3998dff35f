import { describe, expect, test } from "bun:test";
import { readRequest as readChat } from "./chat/index.ts";
import type { TextPayload } from "./dialect.ts";
import { readRequest as readMessages } from "./messages/index.ts";
import { readRequest as readNative } from "./native/text/index.ts";
import { promptText } from "./prompt-text.ts";
import { readRequest as readResponses } from "./responses/index.ts";

const SCHEMA = { type: "object", properties: { city: { type: "string" } } };
const DATA = "iVBORw0KGgo".repeat(50);
const URL = `data:image/png;base64,${DATA}`;
const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));

const REQUESTS: Record<string, TextPayload> = {
  chat: readChat(
    bytesOf({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Which harbour?" },
            { type: "image_url", image_url: { url: URL } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "look", arguments: '{"city":"Oslo"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "Calm." },
      ],
      tools: [{ type: "function", function: { name: "look", description: "Looks.", parameters: SCHEMA } }],
    }),
  ),
  messages: readMessages(
    bytesOf({
      model: "m",
      max_tokens: 9,
      system: "Be brief.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Which harbour?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } },
          ],
        },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "look", input: { city: "Oslo" } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "Calm." }] },
      ],
      tools: [{ name: "look", description: "Looks.", input_schema: SCHEMA }],
    }),
    new Headers(),
  ),
  responses: readResponses(
    bytesOf({
      model: "m",
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Which harbour?" },
            { type: "input_image", image_url: URL, detail: "auto" },
          ],
        },
        { type: "function_call", call_id: "call_1", name: "look", arguments: '{"city":"Oslo"}' },
        { type: "function_call_output", call_id: "call_1", output: "Calm." },
      ],
      tools: [{ type: "function", name: "look", description: "Looks.", parameters: SCHEMA, strict: false }],
    }),
  ),
  native: readNative(
    bytesOf({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        {
          role: "user",
          parts: [{ text: "Which harbour?" }, { inlineData: { mimeType: "image/png", data: DATA } }],
        },
        { role: "model", parts: [{ functionCall: { name: "look", args: { city: "Oslo" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "look", response: { output: "Calm." } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: "look", description: "Looks.", parameters: SCHEMA }] }],
    }),
    { model: "m", isStream: false },
  ),
};

describe.each(Object.entries(REQUESTS))("a prompt of %s", (_, { parsed }) => {
  test("has its texts, its calls and its tools, and its media as a number", () => {
    const { text, share, otherTokens } = promptText(parsed);
    const pieces = text.split("\n");
    for (const piece of [
      "Be brief.",
      "Which harbour?",
      "look",
      '{"city":"Oslo"}',
      "Looks.",
      JSON.stringify(SCHEMA),
    ])
      expect(pieces).toContain(piece);
    expect(text).toContain("Calm.");
    expect(text).not.toContain(DATA.slice(0, 20));
    expect(text).not.toMatch(/call_1|toolu_1|image\/png|function_call|assistant/);
    expect(share).toBe(1);
    // 1,536 for the image, four for each of the three messages and for the instructions, three for the beginning of the
    // reply.
    expect(otherTokens).toBe(1_536 + 4 * 4 + 3);
  });
});

test("of a long prompt the beginning is taken, with its share of the whole", () => {
  const content = "harbour ".repeat(100_000);
  const { parsed } = readChat(bytesOf({ model: "m", messages: [{ role: "user", content }] }));
  const { text, share } = promptText(parsed);
  expect(text.length).toBeWithin(262_000, 262_145);
  expect(share).toBeCloseTo(262_144 / 800_000, 2);
});
