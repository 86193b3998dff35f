import { afterAll, beforeAll, expect, test } from "bun:test";
import { FALLBACK_ONLY, openResponsesFixture, type ResponsesFixture } from "../support/responses-gateway.ts";

/* A vendor that fails after reasoning but before any text. */
let fixture: ResponsesFixture;
beforeAll(async () => {
  fixture = await openResponsesFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Number of frames before the first text: two of the response, the reasoning, the empty message and its part. */
const FRAMES_WITHOUT_TEXT = 6;

const CALLS = {
  chat: ["/v1/chat/completions", { messages: [{ role: "user", content: "Hello?" }] }],
  messages: ["/v1/messages", { messages: [{ role: "user", content: "Hello?" }], max_tokens: 500 }],
  responses: ["/v1/responses", { input: "Hello?" }],
} as const;

test.each(Object.keys(CALLS) as (keyof typeof CALLS)[])(
  "the next target answers a caller of %s when the first thought and said nothing",
  async (dialect) => {
    const [path, fields] = CALLS[dialect];
    fixture.other.next({ fault: "close-midway", after: FRAMES_WITHOUT_TEXT, frameDelayMs: 5 });
    const id = `thought-${dialect}`;
    const body = { ...fields, model: FALLBACK_ONLY, stream: true };
    const response = await fixture.gateway.call(path, { body, headers: { "x-request-id": id } });
    const text = await response.text();
    expect(text).toContain("word7");
    expect(text).not.toContain('"error":{');
    const rows = await fixture.gateway.charged(id);
    expect(rows).toMatchObject([
      {
        channel: "responses-only",
        flags: [],
        attempts: [{ channel: "other-only" }, { outcome: "answered" }],
      },
    ]);
  },
);
