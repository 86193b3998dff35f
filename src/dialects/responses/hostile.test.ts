import fc from "fast-check";
import { expect, test } from "bun:test";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { responses } from "./index.ts";
import { readReply } from "./forward.ts";
import { openStream } from "./stream.ts";

/*
 * Values of vendors that may break code. For any bytes, a reader must yield events or throw an `UpstreamError`, but no
 * other error.
 */
const HOSTILE = { toString: 1, valueOf: null };
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(HOSTILE, [HOSTILE], "", null, -1, 1e308, "response.completed", { type: HOSTILE }),
);
const item = fc.record(
  {
    type: fc.oneof(
      fc.constantFrom("message", "reasoning", "function_call", "custom_tool_call", "image_generation_call"),
      value,
    ),
    id: value,
    call_id: value,
    name: value,
    arguments: value,
    input: value,
    content: fc.oneof(fc.array(fc.record({ type: value, text: value, refusal: value })), value),
    summary: fc.oneof(fc.array(fc.record({ type: value, text: value })), value),
    encrypted_content: value,
  },
  { requiredKeys: [] },
);
const response = fc.record(
  {
    id: value,
    model: value,
    store: value,
    status: fc.oneof(fc.constantFrom("completed", "incomplete", "failed"), value),
    output: fc.oneof(fc.array(fc.oneof(item, value), { maxLength: 3 }), value),
    usage: fc.oneof(
      fc.record({ input_tokens: value, output_tokens: value, input_tokens_details: value }),
      value,
    ),
    error: fc.oneof(fc.constant(null), fc.record({ code: value, message: value, type: value }), value),
    incomplete_details: value,
  },
  { requiredKeys: [] },
);
const event = fc.record(
  {
    type: fc.oneof(
      fc.constantFrom(
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.reasoning_summary_text.delta",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
      ),
      value,
    ),
    sequence_number: value,
    output_index: fc.oneof(fc.nat(2), value),
    content_index: value,
    summary_index: value,
    delta: value,
    item: fc.oneof(item, value),
    response: fc.oneof(response, value),
    error: fc.oneof(fc.constant(undefined), value),
    code: value,
    message: value,
  },
  { requiredKeys: ["type"] },
);

function expectVendorErrorsOnly(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
}

test("in events that are translated", () => {
  const property = fc.property(fc.array(event, { maxLength: 6 }), (events) => {
    expectVendorErrorsOnly(() => {
      const reader = responses.replyReader();
      for (const each of events)
        for (const read of reader.read(JSON.stringify(each))) expect(read.type).toBeString();
    });
  });
  fc.assert(property, { numRuns: 1_500 });
});

test("in events that are forwarded", () => {
  const property = fc.property(fc.array(event, { maxLength: 6 }), (events) => {
    const stream = openStream("public", policyFor(10));
    expectVendorErrorsOnly(() => {
      for (const each of events) stream.push(Buffer.from(`data: ${JSON.stringify(each)}\n\n`));
      stream.end();
    });
    expect(stream.usage().unit).toBe("token");
  });
  fc.assert(property, { numRuns: 1_500 });
});

test("in whole responses", () => {
  const property = fc.property(fc.oneof(response, value), (body) => {
    const text = JSON.stringify(body);
    expectVendorErrorsOnly(() => void readReply({ text }, "public", policyFor(10)));
    expectVendorErrorsOnly(() => void responses.parseReply({ text }));
  });
  fc.assert(property, { numRuns: 1_500 });
});
