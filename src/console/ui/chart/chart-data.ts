export interface Series {
  /** Decides the colour: the id of what is shown. */
  name: string;
  label: string;
  /** One for each time; null where there is none. */
  values: readonly (number | null)[];
  colour?: string;
}

export interface ChartData {
  label: string;
  /** `area` and `bar` are stacked. */
  kind: "area" | "line" | "bar";
  /** ISO 8601. */
  times: readonly string[];
  series: readonly Series[];
  /** Renders a value. */
  format(value: number): string;
}
