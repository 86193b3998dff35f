import { expect, test } from "bun:test";
import { replyText, turnsOf } from "./kept-turns.ts";

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

test("what is no conversation, or was cut, is none", () => {
  for (const text of ["a red fox", '{"messages":[{"role":"us', "[]", "null", "{}"]) {
    expect(turnsOf(text)).toBeNull();
    expect(replyText(text)).toBeNull();
  }
});
