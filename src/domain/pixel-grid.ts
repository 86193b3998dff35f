import type { ImageCapability } from "./model.ts";

/**
 * The legal size nearest to the wanted one. A legal size comes back unchanged; otherwise the ratio is kept as
 * well as bounds and grid allow, and the area moves as little as they demand.
 */
export function nearestLegalSize(wanted: Pixels, bounds: PixelBounds): Pixels {
  if (isLegalSize(wanted, bounds)) return { width: wanted.width, height: wanted.height };
  const ideal = withinBounds(wanted, bounds);
  const exact = exactRatioSize(wanted, ideal, bounds);
  if (exact) return exact;
  let best = { ...largestSquare(bounds), distance: Infinity };
  for (const width of gridAround(ideal.width, bounds)) {
    for (const height of gridAround(ideal.height, bounds)) {
      const distance = Math.log(width / ideal.width) ** 2 + Math.log(height / ideal.height) ** 2;
      if (distance < best.distance && isLegalSize({ width, height }, bounds)) best = { width, height, distance };
    }
  }
  return { width: best.width, height: best.height };
}

export interface Pixels {
  width: number;
  height: number;
}

export type PixelBounds = NonNullable<ImageCapability["bounds"]>;
