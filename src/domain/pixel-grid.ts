import type { ImageCapability } from "./model.ts";

/**
 * Returns the legal size nearest to the requested one; a legal size is returned unchanged. `keep` decides which value
 * has priority on the grid: the requested edges or the ratio. A size that must be scaled keeps its ratio.
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

/** Weight of a change of the ratio against an equal change of the area. */
const RATIO_WEIGHT = 1000;

/** Grid lines tried on either side of the ideal edge. */
const REACH = 8;

/** Tolerance at the ratio bound, for the rounding of a division. */
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
 * Fits a size to the bounds of ratio, edge and area, ignoring the grid: cuts the long edge, then scales both edges.
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

/** The fallback when nothing near the ideal is legal: legal under all bounds that allow a square. */
function largestSquare(bounds: PixelBounds): Pixels {
  const edge = Math.min(bounds.maxEdge, Math.sqrt(bounds.maxPixels));
  const aligned = Math.max(1, Math.floor(edge / bounds.multiple)) * bounds.multiple;
  return { width: aligned, height: aligned };
}
