const HUES = 12;
const STORED = "gateway.colours";
const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

let slots: Record<string, number> | null = null;

/**
 * Returns the colour of a series. The colour depends on the name, so that a model has the same colour in every chart.
 * If two names would get the same colour, the name that this browser saw later gets the next colour that is free, if
 * there is one.
 */
export function seriesColour(name: string): string {
  return colourOf(slotOf(name));
}

function colourOf(slot: number): string {
  // Neighbouring colours differ in hue and also in lightness.
  return `oklch(${slot % 2 === 0 ? 0.58 : 0.7} 0.14 ${(slot * 360) / HUES + 25})`;
}

/**
 * Gives each series of a chart its colour. If the colour of a name is already used in the chart, the name gets the next
 * colour that the chart does not use yet, if there is one.
 */
export function withColours<Series extends { name: string; colour?: string }>(
  series: readonly Series[],
): (Series & { colour: string })[] {
  const used = new Set<number>();
  return series.map((each) => {
    if (each.colour !== undefined) return { ...each, colour: each.colour };
    let slot = slotOf(each.name);
    while (used.has(slot) && used.size < HUES) slot = (slot + 1) % HUES;
    used.add(slot);
    return { ...each, colour: colourOf(slot) };
  });
}

function slotOf(name: string): number {
  slots ??= storedSlots();
  const known = slots[name];
  if (known !== undefined) return known;
  const wanted = hashOf(name) % HUES;
  const taken = new Set(Object.values(slots));
  if (taken.size === HUES) return wanted;
  let slot = wanted;
  while (taken.has(slot)) slot = (slot + 1) % HUES;
  slots[name] = slot;
  localStorage.setItem(STORED, JSON.stringify(slots));
  return slot;
}

function storedSlots(): Record<string, number> {
  return JSON.parse(localStorage.getItem(STORED) ?? "{}");
}

function hashOf(name: string): number {
  let hash = FNV_OFFSET;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME) >>> 0;
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** The colour of the series that sums up small values. */
export const REST_COLOUR = "oklch(0.62 0.01 270)";
