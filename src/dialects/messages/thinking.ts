import type { ReasoningControl } from "../../domain/model.ts";
import { isObject } from "../../lib/json.ts";
import { budgetOf, type Effort, effortOf, readEffort, type Reasoning } from "../conversation/reasoning.ts";
import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";

/** The minimum thinking budget of vendors of this protocol, in tokens (Anthropic API, "Extended thinking"). */
const MIN_BUDGET = 1_024;

/** The fields of a request that control thinking. */
export interface ThinkingFields {
  thinking?: Readonly<Record<string, unknown>>;
  effort?: string;
}

/** Reads the fields for reasoning; null when the request has none. */
export function readThinking(body: Readonly<Record<string, unknown>>): Reasoning | null {
  const { thinking, output_config: config } = body;
  const effort = isObject(config) ? readEffort(config["effort"]) : null;
  if (!isObject(thinking)) return effort && { effort, budgetTokens: null, isVisible: null };
  const { type, budget_tokens: budget, display } = thinking;
  if (type === "disabled") return { effort: "none", budgetTokens: null, isVisible: null };
  const isVisible = typeof display === "string" ? display !== "omitted" : null;
  return { effort, budgetTokens: typeof budget === "number" ? budget : null, isVisible };
}

/** Writes the requested reasoning. Writes nothing without a `control`, or if `maxTokens` is too low for a budget. */
export function writeThinking(
  reasoning: Reasoning | null,
  control: ReasoningControl | undefined,
  maxTokens: number,
): ThinkingFields {
  if (!reasoning || control === undefined) return {};
  const effort = effortOf(reasoning);
  // Models without a thinking budget always think, and refuse a request that turns thinking off.
  if (effort === "none") return control === "budget" ? { thinking: { type: "disabled" } } : { effort: "low" };
  const display = reasoning.isVisible === null ? {} : { display: displayOf(reasoning.isVisible) };
  if (control === "budget") {
    const budget = Math.min(Math.max(budgetOf(reasoning) ?? MIN_BUDGET, MIN_BUDGET), maxTokens - 1);
    return budget < MIN_BUDGET ? {} : { thinking: { type: "enabled", budget_tokens: budget, ...display } };
  }
  const word = effort === null ? {} : { effort: wordOf(effort) };
  return control === "adaptive" ? { thinking: { type: "adaptive", ...display }, ...word } : word;
}

function displayOf(isVisible: boolean): string {
  return isVisible ? "summarized" : "omitted";
}

/** Returns the protocol's name of an effort. The lowest effort of the protocol is `low`. */
function wordOf(effort: Effort): string {
  return effort === "minimal" ? "low" : effort;
}

const CARRIED = "gw-";
const OF_CALL = "gw-call-";
const UNSIGNED = "gw-unsigned";

/**
 * Returns the text that a caller gets as the signature and sends back. A signature of another protocol's vendor gets a
 * prefix. Without a signature, the text is `UNSIGNED`.
 */
export function sealThinking(signature: Signature | null): string {
  return signature ? sealSignature(signature, "messages") : UNSIGNED;
}

/** Reads the signature that a caller sends back; null when there is no signature. */
export function openThinking(text: unknown): Signature | null {
  if (typeof text !== "string" || text === "" || text === UNSIGNED) return null;
  return openSignature(text, "messages");
}

/**
 * Returns a tool call's signature as data of a `redacted_thinking` block before the call. The protocol has no field for
 * this signature, but some vendors require it back. Clients send the block back in the same position.
 */
export function sealCallSignature(signature: Signature): string {
  return OF_CALL + sealSignature(signature, "messages");
}

/** Reads a tool call's signature from the `redacted_thinking` block before the call; null for other blocks. */
export function openCallSignature(data: string): Signature | null {
  return data.startsWith(OF_CALL) ? openSignature(data.slice(OF_CALL.length), "messages") : null;
}

/** True for thinking of another protocol's vendor. Vendors of this protocol would refuse such thinking. */
export function isForeign({ type, signature, data }: Readonly<Record<string, unknown>>): boolean {
  const seal = type === "thinking" ? signature : type === "redacted_thinking" ? data : undefined;
  return typeof seal === "string" && seal.startsWith(CARRIED);
}

/** True when a request's text may contain the thinking of a vendor of another protocol. */
export function mayHoldForeign(raw: string): boolean {
  return raw.includes(`"${CARRIED}`);
}
