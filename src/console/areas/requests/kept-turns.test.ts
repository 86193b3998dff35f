import { expect, test } from "bun:test";
import { promptToTry, replyText, turnsOf } from "./kept-turns.ts";

test.each([
  [
    {
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: [{ type: "text", text: "Hi" }, { type: "image_url" }] },
      ],
    },
  ],
  [{ system: "Be brief", messages: [{ role: "user", content: [{ text: "Hi" }, { type: "image_url" }] }] }],
  [
    {
      instructions: "Be brief",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }, { type: "image_url" }] }],
    },
  ],
  [
    {
      systemInstruction: { parts: [{ text: "Be brief" }] },
      contents: [{ role: "user", parts: [{ text: "Hi" }, { type: "image_url" }] }],
    },
  ],
])("a kept request of any protocol is read as turns", (body) => {
  expect(turnsOf(JSON.stringify(body))).toEqual([
    { role: "system", text: "Be brief" },
    { role: "user", text: "Hi\n[image_url]" },
  ]);
});

test.each([
  [{ choices: [{ message: { content: "Hello" } }] }],
  [{ content: [{ type: "text", text: "Hello" }] }],
  [{ output: [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }] }],
  [{ candidates: [{ content: { parts: [{ text: "Hello" }] } }] }],
])("a kept reply of any protocol is read as its text", (body) => {
  expect(replyText(JSON.stringify(body))).toBe("Hello");
});

test.each([
  [
    {
      max_completion_tokens: 64,
      temperature: 0.2,
      messages: [
        { role: "developer", content: "Be brief" },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "How are you?" },
      ],
    },
  ],
  [
    {
      generationConfig: { maxOutputTokens: 64, temperature: 0.2 },
      systemInstruction: { parts: [{ text: "Be brief" }] },
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ text: "Hello" }] },
        { role: "user", parts: [{ text: "How are you?" }] },
      ],
    },
  ],
])("a kept request of any protocol can be tried again, its last message still to be sent", (body) => {
  expect(promptToTry(JSON.stringify(body))).toEqual({
    system: "Be brief",
    maxTokens: 64,
    temperature: 0.2,
    turns: [
      { role: "user", text: "Hi" },
      { role: "assistant", text: "Hello" },
    ],
    message: "How are you?",
  });
});

test("the prompt of pictures can be tried again, a request that was cut cannot", () => {
  expect(promptToTry("a red fox")).toMatchObject({ message: "a red fox", turns: [] });
  expect(promptToTry('{"messages":[{"role":"us')).toBeNull();
});

test("what is no conversation, or was cut, is none", () => {
  for (const text of ["a red fox", '{"messages":[{"role":"us', "[]", "null", "{}"]) {
    expect(turnsOf(text)).toBeNull();
    expect(replyText(text)).toBeNull();
  }
});

test("a request with the turns of two protocols is shown as it was sent, since no model reads both", () => {
  const body = { messages: [{ role: "user", content: "secret" }], input: "decoy" };
  expect(turnsOf(JSON.stringify(body))).toBeNull();
  expect(promptToTry(JSON.stringify(body))).toBeNull();
});

test("names that are no text do not keep a conversation from being shown", () => {
  const body = { contents: [{ role: { toString: 1 }, type: 7, parts: [{ text: "Hi" }] }] };
  expect(turnsOf(JSON.stringify(body))).toEqual([{ role: "user", text: "Hi" }]);
});
