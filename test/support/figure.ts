/** One measured promise, as a line that people and scripts read: `ID name value unit bar PASS|FAIL`. */
export function reportFigure(
  id: string,
  name: string,
  value: number,
  { unit, bar, passes }: { unit: string; bar: string; passes: boolean },
): void {
  const shown = Number.isInteger(value) ? String(value) : value.toFixed(2);
  console.log(`${id} ${name} ${shown} ${unit} ${bar} ${passes ? "PASS" : "FAIL"}`);
}

/** A figure that must be exactly so. Answers whether it is. */
export function reportExact(id: string, name: string, value: number, unit: string, wanted: number): boolean {
  const passes = value === wanted;
  reportFigure(id, name, value, { unit, bar: `==${wanted}`, passes });
  return passes;
}

/** A figure that must not be larger. Answers whether it is not. */
export function reportAtMost(id: string, name: string, value: number, unit: string, most: number): boolean {
  const passes = value <= most;
  reportFigure(id, name, value, { unit, bar: `<=${most}`, passes });
  return passes;
}

/** A figure that must not be smaller. Answers whether it is not. */
export function reportAtLeast(id: string, name: string, value: number, unit: string, least: number): boolean {
  const passes = value >= least;
  reportFigure(id, name, value, { unit, bar: `>=${least}`, passes });
  return passes;
}
