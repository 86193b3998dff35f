import type { EmbeddingUpstream } from "../gateway/upstreams.ts";
import { yieldToEventLoop } from "../lib/waiting.ts";
import { hashNumber } from "./random.ts";
import { countTokens, splitTokens } from "./text/tokens.ts";
import { UpstreamError } from "../domain/upstream-error.ts";

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;
/** Maximum number of characters in all texts of a request: about 300,000 tokens, the maximum of real vendors. */
const MAX_CHARACTERS = 1024 * 1024;
/** Number of dimensions that each token changes. */
const FEATURES = 4;
/** Number of tokens between two pauses for other tasks. Processing so many tokens takes about a millisecond. */
const TOKENS_AT_ONCE = 1_024;

/** Makes vectors without a vendor. Equal texts have equal vectors. Texts with common words have similar vectors. */
export const sandboxEmbeddings: EmbeddingUpstream = {
  async embed({ texts, dimensions }) {
    if (!texts) throw rejected("input", "Send texts: the sandbox knows no tokens of other models.");
    const size = dimensions ?? DEFAULT_DIMENSIONS;
    if (size > MAX_DIMENSIONS)
      throw rejected("dimensions", `\`dimensions\` must be at most ${MAX_DIMENSIONS}.`);
    if (texts.reduce((sum, text) => sum + text.length, 0) > MAX_CHARACTERS)
      throw rejected("input", `The texts must have at most ${MAX_CHARACTERS} characters in all.`);
    const vectors: number[][] = [];
    for (const text of texts) vectors.push(await vectorOf(text, size));
    const inputTokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
    return { kind: "vectors", vectors, inputTokens };
  },
};

/** Returns the vector of a text. Each token adds 1 to, or subtracts 1 from, a few dimensions. */
async function vectorOf(text: string, size: number): Promise<number[]> {
  const vector: number[] = Array.from({ length: size }, () => 0);
  for (const [index, token] of splitTokens(text.toLowerCase()).entries()) {
    const yielded = index % TOKENS_AT_ONCE === 0 ? yieldToEventLoop() : undefined;
    if (yielded) await yielded;
    for (let feature = 0; feature < FEATURES; feature += 1) {
      const hash = hashNumber(feature, token.trim());
      const at = (hash >>> 1) % size;
      vector[at] = (vector[at] ?? 0) + (hash % 2 === 0 ? 1 : -1);
    }
  }
  // The changes of several tokens may add up to zero, but a vector of zeros has no direction.
  if (!vector.some((value) => value !== 0)) vector[0] = 1;
  return vector;
}

function rejected(param: string, publicMessage: string): UpstreamError {
  return new UpstreamError("rejected", "the sandbox does not take this request", {
    status: 400,
    publicMessage,
    param,
  });
}
