import { expect, test } from "bun:test";
import { streamedText } from "./streamed-text.ts";

const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

test.each([
  [
    "chat",
    events(
      { choices: [{ index: 0, delta: { role: "assistant", content: "ja" } }] },
      { choices: [{ delta: { content: "ne" } }] },
      { choices: [], usage: {} },
    ) + "data: [DONE]\n\n",
  ],
  [
    "messages",
    `event: content_block_delta\n${events({ type: "content_block_start", content_block: { text: "x" } }, { type: "content_block_delta", delta: { type: "text_delta", text: "ja" } }, { type: "content_block_delta", delta: { type: "text_delta", text: "ne" } })}`,
  ],
  [
    "responses",
    events(
      { type: "response.output_text.delta", delta: "ja" },
      { type: "response.output_text.delta", delta: "ne" },
      { type: "response.output_text.done", text: "jane" },
    ),
  ],
  [
    "native",
    events(
      { candidates: [{ content: { role: "model", parts: [{ text: "ja" }] }, finishReason: "STOP" }] },
      { candidates: [{ content: { parts: [{ text: "ne" }] } }] },
    ),
  ],
])("what a stream of %s says is joined", (_, stream) => {
  expect(streamedText(stream)).toBe("jane");
});

test("a reply that is no stream stays as it is", () => {
  expect(streamedText('{"choices":[]}')).toBe('{"choices":[]}');
});
