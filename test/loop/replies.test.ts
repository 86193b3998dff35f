import { describe, expect, test } from "bun:test";
import { forward, translate } from "../../src/dialects/text.ts";
import type { VendorTerms } from "../../src/dialects/dialect.ts";
import { textDialect, TEXT_DIALECTS } from "../../src/dialects/text.ts";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { CALLERS } from "../support/text-matrix.ts";
import { policyFor } from "../support/usage-policy.ts";
import { STREAMED_REPLIES, WHOLE_REPLIES, WORDS } from "./growing-replies.ts";
import { GROWN_ITEMS, growsTooFast, threadTime } from "./thread-time.ts";

const TERMS: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 1_000, reasoning: "effort" },
};
const PIECE_BYTES = 16 * 1024;
/** Share of the maximum number of items, so small that the suite is fast. */
const SHARE = 0.05;

describe.each([...TEXT_DIALECTS])("from a vendor of %s", (vendor) => {
  test.each(Object.keys(WHOLE_REPLIES))(
    "a whole reply of many %s is read and written in linear time",
    (kind) => {
      const { most, make } = WHOLE_REPLIES[kind]!;
      expectLinear(
        most,
        (count) => [...make(WORDS[vendor])(count)].join(""),
        (caller) => (text) => {
          passageOf(caller, vendor).readReply({ text });
        },
      );
    },
  );

  test.each(Object.keys(STREAMED_REPLIES))(
    "a stream of many %s is read and written in linear time",
    (kind) => {
      const { most, make } = STREAMED_REPLIES[kind]!;
      const bytesOf = (count: number) => Buffer.from([...make(WORDS[vendor])(count)].join(""));
      expectLinear(most, bytesOf, (caller) => (bytes) => {
        const stream = passageOf(caller, vendor).openStream();
        for (let at = 0; at < bytes.length && !stream.isDone; at += PIECE_BYTES)
          stream.push(bytes.subarray(at, at + PIECE_BYTES));
        stream.end();
      });
    },
  );
});

function expectLinear<Reply>(
  most: number,
  make: (count: number) => Reply,
  readAs: (caller: (typeof TEXT_DIALECTS)[number]) => (reply: Reply) => void,
): void {
  const count = Math.ceil(most * SHARE);
  const replies = new Map([Math.floor(count / GROWN_ITEMS), count].map((each) => [each, make(each)]));
  for (const caller of TEXT_DIALECTS) {
    const read = readAs(caller);
    const grown = growsTooFast((each) => {
      try {
        read(replies.get(each)!);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
      }
    }, count);
    expect({ caller, grown }).toEqual({ caller, grown: null });
  }
}

function passageOf(caller: (typeof TEXT_DIALECTS)[number], vendor: (typeof TEXT_DIALECTS)[number]) {
  const { body, payload } = CALLERS[caller];
  const read = payload(body("m", "text", true), "m");
  return caller === vendor
    ? forward(textDialect(vendor), read, TERMS, policyFor(1))
    : translate({ caller: textDialect(caller), vendor: textDialect(vendor) }, read, TERMS, policyFor(1));
}

test("the clock of a thread advances", () => {
  const start = threadTime();
  while (threadTime() - start < 1);
  expect(threadTime()).toBeGreaterThan(start);
});
