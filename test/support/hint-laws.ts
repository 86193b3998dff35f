import { expect } from "bun:test";
import fc from "fast-check";
import type { VendorTraits } from "../../src/dialects/dialect.ts";
import type { TextDialectName } from "../../src/dialects/name.ts";
import { forward, textDialect, translate } from "../../src/dialects/text.ts";
import type { ReasoningControl } from "../../src/domain/model.ts";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { VENDORS } from "../../src/providers/openai-compatible/vendors.ts";
import { findFault as findMessagesFault } from "../upstreams/anthropic/rules.ts";
import type { ReceivedRequest } from "../upstreams/http-server.ts";
import { readTextRequest } from "../upstreams/gemini/text-rules.ts";
import { TEXT_MODELS } from "../upstreams/gemini/text-models.table.ts";
import { findChatFault } from "../upstreams/openai/chat-rules.ts";
import { findResponsesFault } from "../upstreams/openai/responses-rules.ts";
import { HINT_CALLERS, requestsOf, wordsOf, type Body } from "./hint-requests.table.ts";
import { policyFor } from "./usage-policy.ts";

/** A kind of target: its protocol, its differences from other vendors, and its control of reasoning. */
interface TargetKind {
  name: string;
  vendor: TextDialectName;
  traits: VendorTraits;
  reasoning?: ReasoningControl;
}

const kinds = (vendor: TextDialectName, ...controls: (ReasoningControl | undefined)[]): TargetKind[] =>
  controls.map((reasoning) => ({
    name: `${vendor} ${reasoning ?? "without reasoning"}`,
    vendor,
    traits: {},
    ...(reasoning && { reasoning }),
  }));

export const TARGETS: readonly TargetKind[] = [
  ...kinds("chat", undefined, "effort"),
  ...[VENDORS.deepseek, VENDORS.mistral, VENDORS.openrouter, VENDORS.dashscope].map(
    ({ name, traits }): TargetKind => ({ name, vendor: "chat", traits, reasoning: "effort" }),
  ),
  ...kinds("messages", undefined, "budget", "adaptive"),
  ...kinds("responses", undefined, "effort"),
  ...kinds("native", undefined, "budget", "level"),
];

/**
 * Throws when the protocol's strict simulated vendor refuses the request. Vendors of chat with traits are not checked.
 */
function expectVendorToTake({ vendor, traits, reasoning }: TargetKind, raw: string): void {
  const body = JSON.parse(raw);
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const request = { headers, body: Buffer.from(raw) } as unknown as ReceivedRequest;
  if (vendor === "chat" && Object.keys(traits).length === 0)
    expect(findChatFault(request, ["public"])).toBeUndefined();
  if (vendor === "responses") expect(findResponsesFault(request, ["public"], "own")).toBeUndefined();
  if (vendor === "messages") {
    const thinking = reasoning === "adaptive" ? "adaptive" : "enabled";
    const models = { public: { thinking, maxTokens: 30_000 } } as const;
    expect(findMessagesFault(request, body, models, false)).toBeUndefined();
  }
  if (vendor === "native") {
    const name = reasoning === "level" ? "gemini-3.8-flash" : "gemini-2.5-flash";
    readTextRequest(body, TEXT_MODELS[name]!, { isVertex: false, isOwnSignature: () => true });
  }
}

interface Sent {
  raw: string;
  ignored: readonly string[];
}

function send(caller: TextDialectName, { vendor, traits, reasoning }: TargetKind, body: Body): Sent | string {
  const payload = HINT_CALLERS[caller].read(Buffer.from(JSON.stringify(body)));
  const model = { id: "public", maxOutputTokens: 30_000, ...(reasoning && { reasoning }) };
  const terms = { upstreamModel: "public", traits, coveredTokens: null, model };
  if (caller === vendor) return forward(textDialect(caller), payload, terms, policyFor(9));
  try {
    return translate(
      { caller: textDialect(caller), vendor: textDialect(vendor) },
      payload,
      terms,
      policyFor(9),
    );
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.kind !== "rejected") throw error;
    return error.param ?? "nothing named";
  }
}

/**
 * Checks that no hint is refused, that no content is lost, and that the header lists exactly the hints without an
 * effect on the vendor's request.
 */
export function expectHintsToBeNamed(
  caller: TextDialectName,
  target: TargetKind,
  numRuns: number,
  seed?: number,
): void {
  const dialect = HINT_CALLERS[caller];
  const property = fc.property(requestsOf(dialect), ({ content, hints }) => {
    const bare = send(caller, target, dialect.build(content, {}));
    const sent = send(caller, target, dialect.build(content, hints));
    // Content that is refused without hints must be refused in the same way with hints.
    if (typeof bare === "string") return expect(sent).toBe(bare);
    if (typeof sent === "string") throw new Error(`${sent} is refused`);
    if (caller !== target.vendor) expectVendorToTake(target, sent.raw);
    const lost = wordsOf(caller === "responses" ? { ...content, stop: false } : content);
    expect(lost.filter((part) => !sent.raw.includes(part))).toEqual([]);
    const missing = Object.keys(hints).filter((name) => {
      const { [name]: _, ...others } = hints;
      const without = send(caller, target, dialect.build(content, others));
      return typeof without !== "string" && without.raw === sent.raw;
    });
    expect(sent.ignored.toSorted()).toEqual(missing.toSorted());
  });
  fc.assert(property, { numRuns, ...(seed !== undefined && { seed }) });
}
