/** Prints a measured figure as `ID name value unit bar PASS|FAIL`. */
export function reportFigure(
  id: string,
  name: string,
  value: number,
  { unit, bar, passes }: { unit: string; bar: string; passes: boolean },
): void {
  const shown = Number.isInteger(value) ? String(value) : value.toFixed(2);
  console.log(`${id} ${name} ${shown} ${unit} ${bar} ${passes ? "PASS" : "FAIL"}`);
}

/** Reports a figure that must equal `wanted`. Returns true if the figure does. */
export function reportExact(id: string, name: string, value: number, unit: string, wanted: number): boolean {
  const passes = value === wanted;
  reportFigure(id, name, value, { unit, bar: `==${wanted}`, passes });
  return passes;
}

/** Reports a figure with a maximum. Returns true if the figure does not exceed it. */
export function reportAtMost(id: string, name: string, value: number, unit: string, most: number): boolean {
  const passes = value <= most;
  reportFigure(id, name, value, { unit, bar: `<=${most}`, passes });
  return passes;
}

/** Reports a figure with a minimum. Returns true if the figure reaches it. */
export function reportAtLeast(id: string, name: string, value: number, unit: string, least: number): boolean {
  const passes = value >= least;
  reportFigure(id, name, value, { unit, bar: `>=${least}`, passes });
  return passes;
}
