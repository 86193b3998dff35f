import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Fault } from "../upstreams/behaviour.ts";
import { expectLawfulEvents, readEvents, responseSchema } from "../support/responses-schema.ts";
import { NATIVE, openResponsesFixture, type ResponsesFixture } from "../support/responses-gateway.ts";

/*
 * For every fault in a vendor's reply, the caller gets a complete response or an error, with the usage that is charged.
 */
let fixture: ResponsesFixture;
beforeAll(async () => {
  fixture = await openResponsesFixture();
});
afterEach(() => fixture.vendor.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

/** More bytes than one read of a socket returns. So the gateway sends content before a fault in the middle. */
const LONG = { tokens: 2_000, frames: 2_000, after: 1_500 };
const MAX_ATTEMPTS = 3;

const FAULTS: readonly Fault[] = [
  "reset-before-headers",
  "close-before-headers",
  "garbage",
  "html",
  "empty",
  "redirect",
  "error-status",
  "error-in-200",
  "truncated",
  "reset-midway",
  "close-midway",
  "one-byte",
  "gzip",
  "no-usage",
  "usage-negative",
  "error-frame-first",
  "failed-frame-first",
  "error-frame-later",
  "failed-frame-later",
  "unknown-events",
  "json-for-stream",
  "crlf",
  "comments",
  "no-space",
  "done-twice",
];

async function ask(requestId: string, isStream: boolean) {
  const body = { model: NATIVE, input: "hi", stream: isStream };
  const headers = { "x-request-id": requestId };
  const response = await fixture.gateway.call("/v1/responses", { body, headers });
  return { status: response.status, text: await response.text() };
}

function expectError(text: string): void {
  const { error, ...rest } = JSON.parse(text);
  expect(rest).toEqual({});
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  expect(text).not.toMatch(/openai|simulated|127\.0\.0\.1/i);
}

describe.each(FAULTS)("%s", (fault) => {
  test("of a stream", async () => {
    const isLate = fault.endsWith("-later") || fault.endsWith("-midway") || fault === "truncated";
    const behaviour = { fault, status: 500, ...(isLate && LONG) };
    fixture.vendor.next(...Array.from({ length: MAX_ATTEMPTS }, () => behaviour));
    const id = `stream-${fault}`;
    const { status, text } = await ask(id, true);
    if (status !== 200) return expectError(text);
    const events = readEvents(text);
    expectLawfulEvents(events);
    const [row, ...others] = await fixture.gateway.charged(id);
    expect(others).toEqual([]);
    const isCut = events.at(-1)!.type === "error";
    expect(isCut).toBe(isLate);
    expect(row!.flags.includes("partial")).toBe(isCut);
    if (isCut) return;
    const { usage } = events.at(-1)!["response"];
    const { input = 0, cacheRead = 0, output = 0, reasoning = 0 } = row!.consumed!.tokens!;
    expect(usage).toMatchObject({ input_tokens: input + cacheRead, output_tokens: output + reasoning });
  });

  test("of a whole response", async () => {
    fixture.vendor.next(...Array.from({ length: MAX_ATTEMPTS }, () => ({ fault, status: 500 })));
    const { status, text } = await ask(`whole-${fault}`, false);
    if (status !== 200) return expectError(text);
    responseSchema.parse(JSON.parse(text));
    expect(await fixture.gateway.charged(`whole-${fault}`)).toHaveLength(1);
  });
});
