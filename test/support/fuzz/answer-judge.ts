import type { EmbeddingsPayload } from "../../../src/dialects/embeddings/index.ts";
import type { TextPayload } from "../../../src/dialects/dialect.ts";
import { GatewayError } from "../../../src/domain/gateway-error.ts";
import type { LedgerEntry } from "../../../src/domain/ledger.ts";
import type { TokenPrice } from "../../../src/domain/price.ts";
import { UpstreamError } from "../../../src/domain/upstream-error.ts";
import { INPUT_CATEGORIES, OUTPUT_CATEGORIES, sumTokens } from "../../../src/domain/usage.ts";
import { textCeiling } from "../../../src/gateway/metering/text-ceiling.ts";
import { INPUT_MARGIN, maxUsesOf, REASONING_MARGIN } from "../../../src/gateway/metering/usage-policy.ts";
import { ClientDisconnected } from "../../../src/gateway/routing/call.ts";
import { isObject } from "../../../src/lib/json.ts";
import { readBook, type Book, type CallerName } from "./client-books.ts";

/*
 * Rules for the gateway's result after a random vendor response. Each rule returns a description of a fault, or null.
 */

/** Maximum of output tokens of the tested model. */
export const MAX_OUTPUT = 1_000;

const rate = (nanos: bigint) =>
  ({ amount: nanos * 1_000_000n, source: "default", effectiveFrom: 0 }) as const;
export const PRICE: TokenPrice = {
  unit: "token",
  currency: "USD",
  perMillion: {
    input: rate(1_000n),
    cacheRead: rate(100n),
    cacheWrite: rate(1_250n),
    cacheWrite1h: rate(2_000n),
    output: rate(5_000n),
    reasoning: rate(7_000n),
    imageOutput: rate(9_000n),
  },
  perUse: { web_search: rate(10n) },
};
const REASONING_NANOS = 7_000n;
const DEAREST_INPUT_NANOS = 2_000n;

/** Checks that a request failed with a known error and no charge. Only a client that disconnected may be charged. */
export function problemOfFailure(charges: readonly LedgerEntry[], error: unknown): string | null {
  const isKnown =
    error instanceof UpstreamError || error instanceof GatewayError || error instanceof ClientDisconnected;
  if (!isKnown) return `a crash: ${error instanceof Error ? error.stack : String(error)}`;
  const isRight = charges.length === 0 || (charges.length === 1 && error instanceof ClientDisconnected);
  return isRight ? null : `an error with ${charges.length} charges`;
}

/** Checks that there is one charge, which has only integers and is within the request's maximum. */
export function problemOfCharge(
  charges: readonly LedgerEntry[],
  payload: TextPayload | EmbeddingsPayload,
): string | null {
  const [entry] = charges;
  if (!entry || charges.length > 1) return `${charges.length} charges`;
  const { usage, amount } = entry;
  if (usage?.unit !== "token") return "no charge of tokens";
  const request = "parsed" in payload ? payload.parsed : { ...payload, maxTokens: 0, choices: 1 };
  const { inputCeiling, choices, features } = request;
  const maxUses = maxUsesOf(features);
  const counts = [...Object.values(usage.tokens), ...Object.values(usage.uses ?? {})];
  const shown = JSON.stringify(usage);
  if (counts.some((count) => !Number.isSafeInteger(count) || count < 0))
    return `an impossible count: ${shown}`;
  const most = (request.maxTokens ?? MAX_OUTPUT) * choices;
  const reasoning = usage.tokens.reasoning ?? 0;
  const output = sumTokens(usage.tokens, OUTPUT_CATEGORIES);
  if (output - reasoning > most || output > most + REASONING_MARGIN * choices)
    return `too much output: ${shown}`;
  if (sumTokens(usage.tokens, INPUT_CATEGORIES) > inputCeiling + INPUT_MARGIN)
    return `too much input: ${shown}`;
  for (const [name, count] of Object.entries(usage.uses ?? {}))
    if (count > (maxUses[name as "web_search"] ?? 0)) return `too many uses: ${shown}`;
  const held = textCeiling(PRICE, inputCeiling, most, maxUses);
  const margins = BigInt(reasoning) * REASONING_NANOS + BigInt(INPUT_MARGIN) * DEAREST_INPUT_NANOS;
  return amount > held + margins ? `${amount} charged, ${held} held: ${shown}` : null;
}

/** Checks that the client's usage record equals the ledger's. */
export function problemOfBook(
  [entry]: readonly LedgerEntry[],
  caller: CallerName,
  text: string,
  isStream: boolean,
): string | null {
  let book: Book | null;
  try {
    book = readBook(caller, text, isStream);
  } catch (error) {
    return `a response that a client cannot read: ${String(error)}: ${text.slice(-500)}`;
  }
  const billed = entry && billedBook(entry, caller);
  return isSame(book, billed)
    ? null
    : `shown ${JSON.stringify(book)}, billed ${JSON.stringify(entry?.usage)}`;
}

function billedBook({ usage }: LedgerEntry, caller: CallerName): Book | undefined {
  if (usage?.unit !== "token") return undefined;
  return {
    input: sumTokens(usage.tokens, INPUT_CATEGORIES),
    output: sumTokens(usage.tokens, OUTPUT_CATEGORIES),
    searches: caller === "messages" ? (usage.uses?.web_search ?? 0) : 0,
  };
}

function isSame(book: Book | null, billed: Book | undefined): boolean {
  return (
    isObject(book) &&
    book["input"] === billed?.input &&
    book["output"] === billed?.output &&
    book["searches"] === billed?.searches
  );
}
