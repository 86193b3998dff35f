import type { EmbeddingUpstream } from "../gateway/ports.ts";
import { hashNumber } from "./random.ts";
import { countTokens, splitTokens } from "./text/tokens.ts";
import { UpstreamError } from "../domain/upstream-error.ts";

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;
/** Dimensions that a token touches. */
const FEATURES = 4;

/** Embeds without a vendor: the same text has the same vector, and texts with words in common are near each other. */
export const sandboxEmbeddings: EmbeddingUpstream = {
  async embed({ texts, dimensions }) {
    if (!texts) throw rejected("input", "Send texts: the sandbox knows no tokens of other models.");
    const size = dimensions ?? DEFAULT_DIMENSIONS;
    if (size > MAX_DIMENSIONS)
      throw rejected("dimensions", `\`dimensions\` must be at most ${MAX_DIMENSIONS}.`);
    const vectors = texts.map((text) => vectorOf(text, size));
    const inputTokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
    return { kind: "vectors", vectors, inputTokens };
  },
};

/** Adds one or takes it away in a few dimensions for each token. */
function vectorOf(text: string, size: number): number[] {
  const vector: number[] = Array.from({ length: size }, () => 0);
  for (const token of splitTokens(text.toLowerCase()))
    for (let feature = 0; feature < FEATURES; feature += 1) {
      const hash = hashNumber(feature, token.trim());
      const at = (hash >>> 1) % size;
      vector[at] = (vector[at] ?? 0) + (hash % 2 === 0 ? 1 : -1);
    }
  // Opposite tokens may leave nothing, and a vector needs a direction.
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
