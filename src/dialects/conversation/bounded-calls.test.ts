import { expect, test } from "bun:test";
import { CALLERS } from "../../../test/support/text-matrix.ts";
import { policyFor } from "../../../test/support/usage-policy.ts";
import type { VendorTerms } from "../dialect.ts";
import { textDialect, translate } from "../text.ts";

const TERMS: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 1_000, reasoning: "effort" },
};

const CALLS = 5;

/** Returns tool calls in chat's form. Their arguments together contain `names` object keys. */
function callsWith(names: number) {
  const text = `{${Array.from({ length: names / CALLS }, () => '"a":1').join(",")}}`;
  return Array.from({ length: CALLS }, (_, index) => ({
    id: `c${index}`,
    type: "function",
    function: { name: "f", arguments: text },
  }));
}

function request(names: number) {
  const calls = callsWith(names);
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

test.each(["messages", "native", "responses"] as const)(
  "the calls of a reply to %s may have as many names in all as a request",
  (caller) => {
    const ends = { caller: textDialect(caller), vendor: textDialect("chat") };
    const { body, payload } = CALLERS[caller];
    const passage = translate(ends, payload(body("m", "text", false), "m"), TERMS, policyFor(1));
    const reply = (names: number) => {
      const message = { role: "assistant", content: null, tool_calls: callsWith(names) };
      const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
      return { text: JSON.stringify({ id: "c", model: "m", choices }) };
    };
    expect(passage.readReply(reply(50_000)).text).toContain("c4");
    expect(() => passage.readReply(reply(50_005))).toThrow("more than 50000 names");
  },
);
