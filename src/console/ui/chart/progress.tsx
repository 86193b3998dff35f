import { Meter } from "react-aria-components/Meter";

/**
 * A bar for the used share: from 0 to 1, or more when the limit is exceeded. `forecast` is the expected share at the
 * end of the period.
 */
export function Progress({ label, share, forecast }: { label: string; share: number; forecast?: number }) {
  const look = share >= 1 ? "bg-bad" : share >= 0.8 ? "bg-warn" : "bg-accent-solid";
  return (
    <Meter
      aria-label={label}
      value={Math.round(Math.min(share, 1) * 10_000) / 100}
      className="relative h-2 w-full overflow-hidden rounded-full bg-sunken"
    >
      <div className={`h-full rounded-full ${look}`} style={{ width: `${Math.min(share, 1) * 100}%` }} />
      {forecast !== undefined && (
        <div
          className="absolute inset-y-0 w-0.5 bg-text"
          style={{ left: `calc(${Math.min(Math.max(forecast, 0), 1) * 100}% - 2px)` }}
        />
      )}
    </Meter>
  );
}
