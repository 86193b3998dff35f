import { ChartArea, Table } from "lucide-react";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "../forms/button.tsx";
import { formatStep } from "../text/format.ts";
import { withColours } from "./series-colours.ts";
import { usePlot, type ChartData } from "./use-plot.ts";

const HEIGHT = "h-56";
/** Maximum number of series for which the legend and the buttons share a row even in a narrow chart. */
const FEW_SERIES = 3;

/** Shows values over time. The user reads single values by hovering, with the arrow keys, or in a table. */
export function Chart(given: ChartData) {
  const series = useMemo(() => withColours(given.series), [given.series]);
  const props = { ...given, series };
  const { label, times, format, interval, zone = "UTC" } = props;
  const { t } = useTranslation();
  const [isTable, setTable] = useState(false);
  const [index, setIndex] = useState<number | null>(null);
  const time = index === null ? undefined : times[index];
  return (
    <figure className="flex min-w-0 flex-col gap-2" aria-label={label}>
      <div className="flex flex-wrap items-start justify-end gap-x-3">
        <Legend series={series} index={index} format={format} />
        {interval === "day" && (
          <span className="self-center text-xs whitespace-nowrap text-muted">
            {t("chart.days", { zone })}
          </span>
        )}
        <IconButton
          icon={isTable ? ChartArea : Table}
          label={isTable ? t("chart.show") : t("chart.table")}
          onPress={() => setTable(!isTable)}
        />
      </div>
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <div className="relative">
          <Plot {...props} index={index} onIndex={setIndex} />
          <p
            aria-live="polite"
            className="pointer-events-none absolute top-0 right-2 rounded-sm bg-surface px-1 text-xs text-muted"
          >
            {time !== undefined && formatStep(Date.parse(time), interval, zone)}
          </p>
        </div>
      )}
    </figure>
  );
}

function Plot({
  index,
  onIndex,
  ...props
}: ChartData & { index: number | null; onIndex(index: number | null): void }) {
  const { t } = useTranslation();
  const container = useRef<HTMLDivElement>(null);
  const moveTo = usePlot(container, props, onIndex);
  const last = props.times.length - 1;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowLeft: (index ?? last + 1) - 1, ArrowRight: (index ?? -1) + 1, Home: 0, End: last }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    moveTo(Math.max(0, Math.min(last, next)));
  };
  return (
    <div
      ref={container}
      role="group"
      aria-roledescription={t("chart")}
      aria-label={t("chart.keys", { label: props.label })}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className={`${HEIGHT} min-w-0 overflow-hidden border-line text-muted`}
    />
  );
}

function Legend({ series, index, format }: Pick<ChartData, "series" | "format"> & { index: number | null }) {
  return (
    <ul
      className={`flex min-h-8 min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-1 text-xs ${series.length > FEW_SERIES ? "basis-72" : "basis-32"}`}
    >
      {series.map(({ name, label, values, colour }) => {
        const value = index === null ? undefined : values[index];
        return (
          <li key={name} className="flex max-w-full min-w-0 items-center gap-1.5">
            <span aria-hidden className="size-2.5 shrink-0 rounded-sm" style={{ background: colour }} />
            <span className="truncate text-muted">{label}</span>
            {value !== undefined && value !== null && <span className="font-medium">{format(value)}</span>}
          </li>
        );
      })}
    </ul>
  );
}

function ChartTable({ label, times, series, format, interval, zone }: ChartData) {
  const { t } = useTranslation();
  const head = "sticky top-0 bg-surface px-3 py-2 text-xs font-medium text-muted";
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label={label}
      className="h-56 overflow-auto rounded-md border border-line"
    >
      <table className="w-full" aria-label={label}>
        <thead>
          <tr>
            <th scope="col" className={`${head} text-left`}>
              {t("time")}
            </th>
            {series.map(({ name, label }) => (
              <th key={name} scope="col" className={`${head} text-right`}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at, row) => (
            <tr key={at} className="border-t border-line">
              <th scope="row" className="px-3 py-1.5 text-left font-normal whitespace-nowrap text-muted">
                {formatStep(Date.parse(at), interval, zone)}
              </th>
              {series.map(({ name, values }) => {
                const value = values[row];
                return (
                  <td key={name} className="px-3 py-1.5 text-right whitespace-nowrap">
                    {value === undefined || value === null ? "–" : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
