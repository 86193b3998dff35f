import { useEffect, useEffectEvent, useRef, useState, type RefObject } from "react";
import uPlot from "uplot";
import { formatClock, formatDay } from "../text/format.ts";
import { REST_COLOUR } from "./series-colours.ts";

const FONT = '11px "Inter Variable", ui-sans-serif, system-ui, sans-serif';
const MAX_BAR_PX = 48;
const AXIS_WIDTH = 64;
const DAY_SECONDS = 86_400;
const MIN_DRAG_PX = 8;
const MIN_LINE_POINTS = 4;

/**
 * Draws a chart into a container, and again when its data, its size or the theme changes. Reports the index under the
 * cursor. Returns a function that moves the cursor to an index.
 */
export function usePlot(
  container: RefObject<HTMLDivElement | null>,
  props: ChartData,
  onIndex: (index: number | null) => void,
): (index: number) => void {
  const plot = useRef<uPlot | null>(null);
  const theme = useThemeChanges();
  const report = useEffectEvent(onIndex);
  const select = useEffectEvent((from: number, to: number) => props.onSelect?.(from, to));
  const { kind, times, series, format, interval, zone, isUnfinished } = props;
  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    const options = optionsOf(element, { ...props, ...(props.onSelect && { onSelect: select }) }, report);
    const created = new uPlot(options, dataOf(props), element);
    plot.current = created;
    const observer = new ResizeObserver(() =>
      created.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [container, kind, times, series, format, interval, zone, isUnfinished, theme]);
  return (index) => {
    const created = plot.current;
    const time = created?.data[0][index];
    if (created && time !== undefined) created.setCursor({ left: created.valToPos(time, "x"), top: 0 });
  };
}

/**
 * Returns the data of a chart. For stacked kinds, each series is added to the sum of the series before it. The step
 * that is still running is in separate series, so that it can have a style of its own.
 */
function dataOf({ kind, times, series, isUnfinished }: ChartData): uPlot.AlignedData {
  const seconds = times.map((at) => Date.parse(at) / 1_000);
  const sums = times.map(() => 0);
  const rows = series.map(({ values }) =>
    kind === "line"
      ? [...values]
      : values.map((value, index) => (sums[index] = (sums[index] ?? 0) + (value ?? 0))),
  );
  // The highest sums are drawn first, so that the bars of lower sums are in front.
  rows.reverse();
  if (!isUnfinished) return [seconds, ...rows];
  const last = times.length - 1;
  const first = kind === "bar" ? last : last - 1;
  const finished = rows.map((row) => row.map((value, index) => (index === last ? null : value)));
  const tails = rows.map((row) => row.map((value, index) => (index >= first ? value : null)));
  return [seconds, ...finished, ...tails];
}

function optionsOf(
  element: HTMLElement,
  { kind, series, times, format, interval, zone, isUnfinished, onSelect }: ChartData,
  onIndex: (index: number | null) => void,
): uPlot.Options {
  const isOfDays = interval === "day" || interval === "month";
  const plotted = series.map((each) => seriesOf(kind, each, times.length)).reverse();
  const { color, borderTopColor } = getComputedStyle(element);
  const grid = { stroke: borderTopColor, width: 1 };
  const axis = { stroke: color, font: FONT, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: onSelect !== undefined, y: false, setScale: false, dist: MIN_DRAG_PX },
      points: { size: 6 },
    },
    scales: {
      x: { time: true, ...(kind === "bar" && { range: padded(times) }) },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 72,
        values: (_plot, splits, _axis, _space, step) =>
          withoutRepeated(
            splits.map((second) => labelOf(second * 1_000, step < DAY_SECONDS && !isOfDays, zone)),
          ),
      },
      {
        ...axis,
        grid,
        size: AXIS_WIDTH,
        space: 44,
        values: (_plot, splits) => withoutRepeated(splits.map((value) => format(value))),
      },
    ],
    series: [{}, ...plotted, ...(isUnfinished ? plotted.map((each) => unfinished(kind, each)) : [])],
    ...(kind === "area" && {
      bands: series.slice(1).map((_, index): uPlot.Band => ({ series: [index + 1, index + 2] })),
    }),
    hooks: {
      setCursor: [({ cursor }) => onIndex(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < MIN_DRAG_PX) return;
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          onSelect?.(plot.posToVal(left, "x") * 1_000, plot.posToVal(left + width, "x") * 1_000);
        },
      ],
    },
  };
}

function labelOf(at: number, isClock: boolean, zone: Parameters<typeof formatDay>[1]): string {
  return isClock ? formatClock(at) : formatDay(at, zone);
}

/** Replaces each repetition of a label by null. Labels repeat when steps are shorter than the label's unit. */
function withoutRepeated(labels: readonly string[]): (string | null)[] {
  return labels.map((label, index) => (label === labels[index - 1] ? null : label));
}

/** Returns the range of the axis. The range has space for half a bar at both ends. */
function padded(times: readonly string[]): [number, number] {
  const first = Date.parse(times[0] ?? "") / 1_000;
  const last = Date.parse(times.at(-1) ?? "") / 1_000;
  const half = times.length > 1 ? (last - first) / (times.length - 1) / 2 : DAY_SECONDS / 2;
  return [first - half, last + half];
}

function seriesOf(kind: ChartData["kind"], series: ChartData["series"][number], times: number): uPlot.Series {
  const { colour = REST_COLOUR } = series;
  if (kind === "bar")
    return {
      fill: colour,
      points: { show: false },
      ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.7, MAX_BAR_PX], radius: 0.12 }) }),
    };
  return {
    stroke: colour,
    width: 1.75,
    // A line between few points would suggest values between them, so only the points are drawn.
    ...(times < MIN_LINE_POINTS
      ? { paths: () => null, points: { show: true, size: 6 } }
      : // A value between two gaps has no line, so it is drawn as a point.
        { points: { show: true, size: 5, filter: (plot, index) => isolatedIn(plot.data[index] ?? []) } }),
    ...(kind === "area" && { fill: colour.replace(")", " / 0.28)") }),
  };
}

/** Returns the style of a series for the step that is still running. */
function unfinished(kind: ChartData["kind"], { fill, ...series }: uPlot.Series): uPlot.Series {
  if (kind === "bar") return { ...series, fill: String(fill).replace(")", " / 0.45)") };
  return { ...series, dash: [4, 4], points: { show: false } };
}

function isolatedIn(values: ArrayLike<number | null | undefined>): number[] {
  const isGap = (index: number) => values[index] === null || values[index] === undefined;
  return Array.from(values, (_, index) => index).filter(
    (index) => !isGap(index) && isGap(index - 1) && isGap(index + 1),
  );
}

/**
 * Returns a number that changes with the theme. The chart must then be drawn again: the colours of a canvas do not
 * change with the theme.
 */
function useThemeChanges(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const onChange = () => setCount((count) => count + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    window.addEventListener("themechange", onChange);
    system.addEventListener("change", onChange);
    return () => {
      window.removeEventListener("themechange", onChange);
      system.removeEventListener("change", onChange);
    };
  }, []);
  return count;
}

interface Series {
  /** Id of the thing that the series shows. This id decides the colour. */
  name: string;
  label: string;
  /** One value for each time; null for a time without a value. */
  values: readonly (number | null)[];
  /** The colour; by default, the colour of the name. */
  colour?: string;
}

export interface ChartData {
  label: string;
  /** `area` and `bar` are stacked. */
  kind: "area" | "line" | "bar";
  /** ISO 8601. */
  times: readonly string[];
  series: readonly Series[];
  /** Length of a step. Months are in UTC. */
  interval: "minute" | "quarter" | "hour" | "day" | "month";
  /** Time zone in which days begin; UTC by default. */
  zone?: string;
  /** True when the last step is still running. */
  isUnfinished?: boolean;
  format(value: number): string;
  /** Called with two times in Unix milliseconds when the user drags over a part of the range. */
  onSelect?(from: number, to: number): void;
}
