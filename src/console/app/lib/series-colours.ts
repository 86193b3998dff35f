const HUES = 24;
const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

/** The colour of a series by its name, so that a model looks the same in every chart. */
export function seriesColour(name: string): string {
  let hash = FNV_OFFSET;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME) >>> 0;
  const hue = ((hash % HUES) * 360) / HUES;
  const lightness = [0.6, 0.68, 0.54][(hash >>> 8) % 3] ?? 0.6;
  return `oklch(${lightness} 0.14 ${hue})`;
}

/** Of what is summed up because it is little. */
export const REST_COLOUR = "oklch(0.62 0.01 270)";
