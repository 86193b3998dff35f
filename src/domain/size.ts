import { ownValue } from "../lib/json.ts";
import type { RequestedSize, ResolvedSize } from "./image.ts";
import type { ImageCapability } from "./model.ts";
import type { SizeTier } from "./usage.ts";

/**
 * Reads the size and aspect ratio of a request. Unknown values count as absent, because unsupported sizes are ignored.
 * `WxH` takes precedence over a ratio. Never throws.
 */
export function readSize(size: string | null | undefined, ratio?: string | null): RequestedSize {
  const word = size?.trim() ?? "";
  const exact = EXACT.exec(word);
  if (exact) {
    const [width, height] = [Number(exact[1]), Number(exact[2])];
    if (width > 0 && height > 0) return { kind: "exact", width, height };
  }
  const tier = readTier(word);
  const requestedRatio =
    ratio && ratioValue(ratio) !== null ? ratio.replaceAll(/\s/g, "").replace(/[xX×*]/, ":") : null;
  return tier || requestedRatio ? { kind: "tier", tier, ratio: requestedRatio } : { kind: "unset" };
}

const EXACT = /^(\d{1,9})\s*[xX×*]\s*(\d{1,9})$/;
const TIER = /^(\d{1,2}(?:\.\d)?)k$/i;
const RATIO = /^\s*(\d{1,5}(?:\.\d{1,3})?)\s*[:xX×*]\s*(\d{1,5}(?:\.\d{1,3})?)\s*$/;

/** Nominal area of a tier in pixels; the table of a model may differ slightly. */
const TIER_PIXELS: Readonly<Record<SizeTier, number>> = { "1K": 2 ** 20, "2K": 2 ** 22, "4K": 2 ** 24 };
const TIERS: readonly SizeTier[] = ["1K", "2K", "4K"];

/** Maximum area of each tier in pixels. Larger areas are 4K. */
const TIER_CEILINGS: readonly (readonly [SizeTier, number])[] = [
  ["1K", 1_638_400],
  ["2K", 4_718_592],
];

/** Share of the resolved area from which a delivered picture counts as the resolved tier. */
const SAME_TIER_SHARE = 0.75;

/** Difference below which two distances count as equal, because logarithms have rounding errors. */
const SAME = 1e-9;

/** Returns width divided by height for a ratio `W:H`; null for any other text. */
export function ratioValue(ratio: string): number | null {
  const match = RATIO.exec(ratio);
  const value = Number(match?.[1]) / Number(match?.[2]);
  return Number.isFinite(value) && value > 0 ? value : null;
}

/**
 * Returns the supported size that is nearest to the requested size. If the model's data are complete, the result is
 * legal: tier and ratio are the model's, and the pixels are in the model's table or within its bounds.
 */
export function resolveSize(requested: RequestedSize, capability: ImageCapability): ResolvedSize {
  if (requested.kind === "exact") return resolveExact(requested, capability);
  const isAuto = requested.kind === "unset" || (requested.tier === null && requested.ratio === null);
  const tier = nearestTier(requested.kind === "tier" ? requested.tier : null, capability);
  const requestedRatio =
    requested.kind === "tier" && requested.ratio !== null ? ratioValue(requested.ratio) : null;
  const isShapeFree = requestedRatio === null;
  return {
    ...resolveRatio(requestedRatio ?? defaultRatio(capability), tier, capability),
    isAuto,
    isShapeFree,
  };
}

/**
 * Returns the tier to bill: the tier of the resolved area if the caller requests exact pixels, otherwise the tier sent
 * to the vendor.
 */
export function priceTier(resolved: ResolvedSize, requested: RequestedSize): SizeTier {
  return requested.kind === "exact" ? areaTier(resolved.width * resolved.height) : resolved.tier;
}

/** Returns the price tier of an area in pixels. */
function areaTier(area: number): SizeTier {
  return TIER_CEILINGS.find(([, ceiling]) => area <= ceiling)?.[0] ?? "4K";
}

/**
 * Returns the tier that took effect: the resolved tier, or the tier of the delivered area if this area is clearly
 * smaller. A small difference is ignored, because vendors round sizes.
 */
export function deliveredTier(tier: SizeTier, resolved: Pixels, delivered: Pixels): SizeTier {
  const area = delivered.width * delivered.height;
  if (area >= SAME_TIER_SHARE * resolved.width * resolved.height) return tier;
  const smaller = areaTier(area);
  return TIERS.indexOf(smaller) < TIERS.indexOf(tier) ? smaller : tier;
}

/**
 * Returns the size for a requested ratio. A model with free sizes also keeps an unlisted ratio, up to its maximum
 * ratio.
 */
function resolveRatio(
  value: number,
  tier: SizeTier,
  capability: ImageCapability,
): Pick<ResolvedSize, "tier" | "ratio" | "width" | "height"> {
  const ratio = nearestRatio(value, tier, capability);
  if (!isFree(capability)) return { tier, ratio, ...pixelsOf(tier, ratio, capability) };
  const { bounds } = capability;
  const possible = Math.min(Math.max(value, 1 / bounds.maxRatio), bounds.maxRatio);
  const isListed = Math.abs(Math.log(possible / (ratioValue(ratio) ?? 1))) < SAME;
  if (isListed) return { tier, ratio, ...pixelsOf(tier, ratio, capability) };
  const ideal = ofArea(tierArea(tier, capability), possible);
  return { tier, ratio, ...nearestLegalSize(ideal, bounds, "ratio") };
}

function resolveExact(requested: Pixels, capability: ImageCapability): ResolvedSize {
  const value = requested.width / requested.height;
  if (isFree(capability)) {
    const pixels = nearestLegalSize(requested, capability.bounds, "edges");
    const tier = nearestTier(areaTier(pixels.width * pixels.height), capability);
    const ratio = nearestRatio(pixels.width / pixels.height, tier, capability);
    return { tier, ratio, ...pixels, isAuto: false, isShapeFree: false };
  }
  const logArea = Math.log(requested.width * requested.height);
  const resolutions = tiersOf(capability).map((tier): ResolvedSize => {
    const ratio = nearestRatio(value, tier, capability);
    const { width, height } = pixelsOf(tier, ratio, capability);
    return { tier, ratio, width, height, isAuto: false, isShapeFree: false };
  });
  const distance = (resolved: ResolvedSize) => Math.abs(logArea - Math.log(resolved.width * resolved.height));
  return resolutions.reduce((best, next) => (distance(next) < distance(best) - SAME ? next : best));
}

/** True when the model accepts any size within its bounds. */
function isFree(
  capability: ImageCapability,
): capability is ImageCapability & { bounds: NonNullable<ImageCapability["bounds"]> } {
  return capability.sizeMode === "pixels" && capability.bounds !== undefined;
}

/** Returns the nearest of the three tiers for a text such as `1.5K`; null for any other text. */
function readTier(word: string): SizeTier | null {
  const number = Number(TIER.exec(word)?.[1]);
  if (!(number > 0)) return null;
  return closestTier(Math.log(number ** 2 * TIER_PIXELS["1K"]), TIERS);
}

/** Returns the model's tier that is nearest to the requested tier, or the model's first tier if none was requested. */
function nearestTier(tier: SizeTier | null, capability: ImageCapability): SizeTier {
  const tiers = tiersOf(capability);
  return closestTier(Math.log(TIER_PIXELS[tier ?? tiers[0]]), tiers);
}

/** Returns the nearest tier. Of two equally near tiers, returns the earlier, which is smaller and cheaper. */
function closestTier(logArea: number, tiers: readonly SizeTier[]): SizeTier {
  const distance = (tier: SizeTier) => Math.abs(Math.log(TIER_PIXELS[tier]) - logArea);
  return tiers.reduce((best, tier) => (distance(tier) < distance(best) - SAME ? tier : best));
}

/**
 * Returns the model's ratio nearest to `value` by logarithm. Of two equally near ratios, returns the one with more
 * pixels.
 */
function nearestRatio(value: number, tier: SizeTier, capability: ImageCapability): string {
  const candidates = capability.ratios.map((ratio) => {
    const pixels = pixelsOf(tier, ratio, capability);
    return {
      ratio,
      area: pixels.width * pixels.height,
      distance: Math.abs(Math.log(value / (ratioValue(ratio) ?? 1))),
    };
  });
  const [first, ...rest] = candidates;
  if (!first) return SQUARE;
  return rest.reduce((best, next) => {
    if (next.distance < best.distance - SAME) return next;
    return next.distance < best.distance + SAME && next.area > best.area ? next : best;
  }, first).ratio;
}

/** Returns the size in pixels for a tier and ratio: from the model's table, or computed from the tier's area. */
function pixelsOf(tier: SizeTier, ratio: string, capability: ImageCapability): Pixels {
  const row = capability.sizes[tier];
  const listed = EXACT.exec((row && ownValue(row, ratio)) || "");
  const size = listed
    ? { width: Number(listed[1]), height: Number(listed[2]) }
    : ofArea(tierArea(tier, capability), ratioValue(ratio) ?? 1);
  if (isFree(capability)) return nearestLegalSize(size, capability.bounds, "ratio");
  return { width: Math.max(1, Math.round(size.width)), height: Math.max(1, Math.round(size.height)) };
}

function tierArea(tier: SizeTier, capability: ImageCapability): number {
  return Math.min(TIER_PIXELS[tier], capability.bounds?.maxPixels ?? Infinity);
}

function ofArea(area: number, ratio: number): Pixels {
  return { width: Math.sqrt(area * ratio), height: Math.sqrt(area / ratio) };
}

const SQUARE = "1:1";

function defaultRatio(capability: ImageCapability): number {
  return ratioValue(capability.ratios[0] ?? SQUARE) ?? 1;
}

/** Returns the model's tiers. A model without tiers is treated as if it had only the tier 1K. */
function tiersOf(capability: ImageCapability): readonly [SizeTier, ...SizeTier[]] {
  const [first = "1K", ...rest] = capability.tiers;
  return [first, ...rest];
}

/**
 * Returns the legal size that is nearest to the requested size. A legal size is returned unchanged. `keep` decides what
 * is more important when edges are rounded to multiples: the requested edges or the requested ratio. A size that must
 * be scaled keeps its ratio, up to the maximum ratio.
 */
export function nearestLegalSize(requested: Pixels, bounds: PixelBounds, keep: "edges" | "ratio"): Pixels {
  if (isLegalSize(requested, bounds)) return { width: requested.width, height: requested.height };
  const ideal = scaleWithinBounds(requested, bounds);
  const isScaled = ideal.width !== requested.width || ideal.height !== requested.height;
  const ratioWeight = keep === "ratio" || isScaled ? RATIO_WEIGHT : 1;
  let best = { ...largestSquare(bounds), cost: Infinity };
  for (const width of gridAround(ideal.width, bounds)) {
    for (const height of gridAround(ideal.height, bounds)) {
      const [byWidth, byHeight] = [Math.log(width / ideal.width), Math.log(height / ideal.height)];
      const cost = ratioWeight * (byWidth - byHeight) ** 2 + (byWidth + byHeight) ** 2;
      if (cost < best.cost && isLegalSize({ width, height }, bounds)) best = { width, height, cost };
    }
  }
  return { width: best.width, height: best.height };
}

export interface Pixels {
  width: number;
  height: number;
}

type PixelBounds = NonNullable<ImageCapability["bounds"]>;

/** Weight of a change of the ratio, relative to an equal change of the area. */
const RATIO_WEIGHT = 1000;

/** Number of possible edge lengths that are tried below and above the ideal length. */
const REACH = 8;

/** Tolerance in the comparison with the maximum ratio, because divisions have rounding errors. */
const TOLERANCE = 1e-9;

/** True when the model accepts this size. */
export function isLegalSize({ width, height }: Pixels, bounds: PixelBounds): boolean {
  const [short, long] = width < height ? [width, height] : [height, width];
  const area = width * height;
  return (
    short > 0 &&
    width % bounds.multiple === 0 &&
    height % bounds.multiple === 0 &&
    long <= bounds.maxEdge &&
    long / short <= bounds.maxRatio + TOLERANCE &&
    area >= bounds.minPixels &&
    area <= bounds.maxPixels
  );
}

/**
 * Scales a size to the bounds of ratio, edge and area, without rounding to multiples. First shortens the long edge to
 * the maximum ratio. Then scales both edges.
 */
function scaleWithinBounds({ width, height }: Pixels, bounds: PixelBounds): Pixels {
  const max = bounds.maxRatio * Math.min(width, height);
  const cut = { width: Math.min(width, max), height: Math.min(height, max) };
  const area = cut.width * cut.height;
  const requestedArea = Math.min(Math.max(area, bounds.minPixels), bounds.maxPixels);
  const byArea = area === requestedArea ? 1 : Math.sqrt(requestedArea / area);
  const scale = Math.min(byArea, bounds.maxEdge / Math.max(cut.width, cut.height));
  return { width: cut.width * scale, height: cut.height * scale };
}

function gridAround(edge: number, bounds: PixelBounds): number[] {
  const nearest = Math.round(edge / bounds.multiple);
  const lines = Array.from({ length: 2 * REACH + 1 }, (_, index) => nearest - REACH + index);
  return lines.filter((line) => line > 0).map((line) => line * bounds.multiple);
}

/** Returns the largest square within the bounds, for sizes without a legal size near them. May itself be illegal. */
function largestSquare(bounds: PixelBounds): Pixels {
  const edge = Math.min(bounds.maxEdge, Math.sqrt(bounds.maxPixels));
  const aligned = Math.max(1, Math.floor(edge / bounds.multiple)) * bounds.multiple;
  return { width: aligned, height: aligned };
}
