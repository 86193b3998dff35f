import { describe, expect, test } from "bun:test";
import { translate, forward } from "../../src/dialects/text.ts";
import type { VendorTerms } from "../../src/dialects/dialect.ts";
import { textDialect, TEXT_DIALECTS } from "../../src/dialects/text.ts";
import { GatewayError } from "../../src/domain/gateway-error.ts";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { CALLERS } from "../support/text-matrix.ts";
import { policyFor } from "../support/usage-policy.ts";
import { GROWING_REQUESTS } from "./growing-requests.ts";
import { GROWN_ITEMS, growsTooFast } from "./thread-time.ts";

const TERMS: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 1_000, reasoning: "effort" },
};
const COUNT = 6_000;
const policy = policyFor(1);

describe.each([...TEXT_DIALECTS])("a request of %s", (caller) => {
  test.each(Object.keys(GROWING_REQUESTS[caller]))(
    "with many %s is read and written for each vendor in linear time",
    (kind) => {
      const bodies = new Map(
        [COUNT / GROWN_ITEMS, COUNT].map((count) => [count, bodyOf(caller, kind, count)]),
      );
      for (const vendor of TEXT_DIALECTS) {
        const grown = growsTooFast((count) => {
          try {
            const payload = CALLERS[caller].payload(bodies.get(count) ?? {}, "m");
            if (caller === vendor) forward(textDialect(vendor), payload, TERMS, policy);
            else
              translate({ caller: textDialect(caller), vendor: textDialect(vendor) }, payload, TERMS, policy);
          } catch (error) {
            // A refusal is right for content that the vendor cannot accept, but it must be fast too.
            if (!(error instanceof UpstreamError || error instanceof GatewayError)) throw error;
          }
        }, COUNT);
        expect({ vendor, grown }).toEqual({ vendor, grown: null });
      }
    },
  );
});

test("arguments of calls that have too many names together are refused", () => {
  const payload = CALLERS.chat.payload(bodyOf("chat", "names in arguments", 600), "m");
  for (const vendor of TEXT_DIALECTS.filter((name) => name !== "chat"))
    expect(() =>
      translate({ caller: textDialect("chat"), vendor: textDialect(vendor) }, payload, TERMS, policy),
    ).toThrow(UpstreamError);
});

function bodyOf(caller: keyof typeof CALLERS, kind: string, count: number): object {
  const body = GROWING_REQUESTS[caller][kind]!(count);
  if (caller === "native") return body;
  return { model: "m", ...(caller === "messages" && { max_tokens: 100 }), ...body };
}
