import { expect, test } from "bun:test";
import { CALLERS } from "../../../test/support/text-matrix.ts";
import { policyFor } from "../../../test/support/usage-policy.ts";
import type { VendorTerms } from "../dialect.ts";
import { translate } from "../passage.ts";
import { textDialect } from "../text.ts";

const TERMS: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 1_000, reasoning: "effort" },
};

const CALLS = 5;

/** A request of chat whose calls have so many names in all. */
function request(names: number) {
  const text = `{${Array.from({ length: names / CALLS }, () => '"a":1').join(",")}}`;
  const calls = Array.from({ length: CALLS }, (_, index) => ({
    id: `c${index}`,
    type: "function",
    function: { name: "f", arguments: text },
  }));
  const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "x" }));
  const user = { role: "user", content: "x" };
  const body = { model: "m", messages: [user, { role: "assistant", tool_calls: calls }, ...results] };
  return CALLERS.chat.payload(body, "m");
}

test.each(["messages", "native", "responses"] as const)(
  "the calls of a request to %s may have as many names in all as a request",
  (vendor) => {
    const ends = { caller: textDialect("chat"), vendor: textDialect(vendor) };
    expect(translate(ends, request(50_000), TERMS, policyFor(1)).raw).toContain("c4");
    expect(() => translate(ends, request(50_005), TERMS, policyFor(1))).toThrow(
      "messages cannot be translated",
    );
  },
);
