import type { ImageOrder } from "../../domain/image.ts";
import type { ImageUsage } from "../../domain/usage.ts";
import { countTokens } from "../text/tokens.ts";

/** Tokens that one reference counts as. */
const TOKENS_PER_REFERENCE = 560;

/** Patches along the longer edge by quality; the vendors' published counts follow such a grid. */
const PATCHES: Readonly<Record<string, number>> = { low: 16, medium: 48, high: 96, xhigh: 128, max: 192 };
const DEFAULT_PATCHES = 32;

/** A plausible token report: the prompt's real tokens, and an output that grows with size and quality. */
export function countImageTokens(
  order: ImageOrder,
  quality: string | undefined,
  count: number,
): NonNullable<ImageUsage["tokens"]> {
  const { width, height } = order.size;
  const longPatches = (quality !== undefined && PATCHES[quality]) || DEFAULT_PATCHES;
  const shortPatches = Math.max(
    1,
    Math.round((longPatches * Math.min(width, height)) / Math.max(width, height)),
  );
  const each = Math.ceil((longPatches * shortPatches * (2_000_000 + width * height)) / 4_000_000);
  const pictures = order.references.length + (order.mask === undefined ? 0 : 1);
  const input = countTokens(order.prompt) + pictures * TOKENS_PER_REFERENCE;
  return { input, output: each * count, total: input + each * count };
}
