import { useTranslation } from "react-i18next";
import type { ChartData } from "./chart-data.ts";
import { formatTime } from "../text/format.ts";

/** The numbers of a chart. */
export function ChartTable({ label, times, series, format }: ChartData) {
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
                {formatTime(Date.parse(at))}
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
