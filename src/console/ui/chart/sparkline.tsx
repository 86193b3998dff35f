const WIDTH = 100;
const HEIGHT = 32;

/**
 * A small chart without axes, as decoration beside a figure. A null is a gap. The step that is still running is left
 * out, because its low value would look like a fall.
 */
export function Sparkline({
  values,
  isUnfinished,
  isBad = false,
}: {
  values: readonly (number | null)[];
  isUnfinished: boolean;
  isBad?: boolean;
}) {
  const ended = isUnfinished ? values.slice(0, -1) : values;
  const highest = Math.max(...ended.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = WIDTH / Math.max(1, ended.length - 1);
  const line = ended
    .map((value, index) => {
      if (value === null) return "";
      const isStart = index === 0 || ended[index - 1] === null;
      const point = `${round(index * step)} ${round(HEIGHT - (value / highest) * HEIGHT)}`;
      // A line without length is visible as a dot, because lines have round ends.
      return isStart ? `M${point}L${point}` : `L${point}`;
    })
    .join("");
  return (
    <svg
      aria-hidden
      viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
      className={`h-8 w-full overflow-visible ${isBad ? "text-bad" : "text-accent"}`}
    >
      <path
        d={line}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinecap="round"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

function round(position: number): number {
  return Math.round(position * 100) / 100;
}
