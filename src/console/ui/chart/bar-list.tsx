import type { ReactNode } from "react";
import { seriesColour } from "./series-colours.ts";

interface Bar {
  /** Decides the colour. */
  name: string;
  label: ReactNode;
  /** Between 0 and 1. */
  share: number;
  value: ReactNode;
  detail?: ReactNode;
}

/** Things compared by one number, the largest first. */
export function BarList({ bars }: { bars: readonly Bar[] }) {
  const largest = Math.max(...bars.map(({ share }) => share), Number.MIN_VALUE);
  return (
    <ul className="flex flex-col gap-3">
      {bars.map(({ name, label, share, value, detail }) => (
        <li key={name} className="flex flex-col gap-1">
          <div className="flex items-baseline gap-3">
            <span className="min-w-0 flex-1 truncate">{label}</span>
            {detail !== undefined && <span className="text-xs whitespace-nowrap text-muted">{detail}</span>}
            <span className="font-medium whitespace-nowrap">{value}</span>
          </div>
          <div aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken">
            <div
              className="h-full min-w-0.5 rounded-full"
              style={{ width: `${(share / largest) * 100}%`, background: seriesColour(name) }}
            />
          </div>
        </li>
      ))}
    </ul>
  );
}
