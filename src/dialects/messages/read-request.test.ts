import { translatable } from "../conversation/untranslatable.ts";
import { expect, test } from "bun:test";
import { isObject } from "../../lib/json.ts";
import { messages, readRequest } from "./index.ts";

const PDF = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
const TEXT = { type: "text", media_type: "text/plain", data: "Words." };

function read(more: object, block: object = { type: "text", text: "hi" }) {
  const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: [block] }], ...more };
  return messages.readConversation(readRequest(Buffer.from(JSON.stringify(body)), new Headers()));
}

function refusedParam(more: object, block?: object): unknown {
  try {
    translatable(read(more, block));
  } catch (error) {
    return isObject(error) ? error["param"] : error;
  }
  return null;
}

test.each<[string, object, object | undefined]>([
  ["foo", { foo: 1 }, undefined],
  ["service_tier", { service_tier: "priority" }, undefined],
  ["messages[0].content[0].citations", {}, { type: "document", source: PDF, citations: { enabled: true } }],
  ["messages[0].content[0].context", {}, { type: "document", source: PDF, context: "Old." }],
])("what has no translation is refused by name: %s", (param, more, block) => {
  expect(refusedParam(more, block)).toBe(param);
});

test("what changes nothing that is said is left out", () => {
  const hints = {
    metadata: {},
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    service_tier: "standard_only",
    thinking: null,
  };
  const document = { type: "document", source: PDF, citations: { enabled: false }, context: null };
  expect(refusedParam(hints, document)).toBeNull();
});

test("title and context of a document of text are part of its text", () => {
  const { turns } = read({}, { type: "document", source: TEXT, title: "Notes", context: "Of 2020." });
  expect(turns[0]!.parts).toEqual([{ type: "file", source: { text: "Notes\nOf 2020.\nWords." } }]);
});
