import { expect, test } from "bun:test";
import { policyFor } from "../../test/support/usage-policy.ts";
import { CALLERS } from "../../test/support/text-matrix.ts";
import { TranslatedStream } from "./conversation/translated-stream.ts";
import type { TextPayload } from "./dialect.ts";
import type { TextDialectName } from "./name.ts";
import { textDialect } from "./text.ts";

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
    `event: content_block_delta\n${events({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ja" } }, { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ne" } })}`,
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
] as const)("the text of a stream of %s is joined", (name, stream) => {
  const forwarded = textDialect(name).openStream(payloadOf(name), "m", policyFor(3));
  forwarded.push(Buffer.from(stream));
  expect(forwarded.text).toBe("jane");
  const writer = textDialect("chat").replyWriter(payloadOf("chat"));
  const translated = new TranslatedStream(textDialect(name).replyReader(), writer, policyFor(3));
  translated.push(Buffer.from(stream));
  expect(translated.text).toBe("jane");
});

function payloadOf(name: TextDialectName): TextPayload {
  const { payload, body } = CALLERS[name];
  return payload(body("m", "text", true), "m");
}
