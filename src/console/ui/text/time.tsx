import { useSyncExternalStore } from "react";
import { formatAge, formatMoment, formatTime } from "./format.ts";

/**
 * Shows how long ago a time in ISO 8601 was; hovering shows the date with the time zone. With `isAbsolute`, the date is
 * shown directly.
 */
export function Time({ at, isAbsolute = false }: { at: string; isAbsolute?: boolean }) {
  const now = useNow();
  const time = Date.parse(at);
  const absolute = formatTime(time);
  return (
    <time dateTime={at} title={absolute} className={isAbsolute ? "" : "whitespace-nowrap"}>
      {isAbsolute ? absolute : formatAge(time, now)}
    </time>
  );
}

/** Shows the date and time of day, for lists whose rows are compared. Hovering shows how long ago the time was. */
export function Moment({ at }: { at: string }) {
  const now = useNow();
  const time = Date.parse(at);
  return (
    <time
      dateTime={at}
      title={`${formatAge(time, now)} · ${formatTime(time)}`}
      className="whitespace-nowrap tabular-nums"
    >
      {formatMoment(time)}
    </time>
  );
}

const TICK_MS = 20_000;

let now = Date.now();

/**
 * Returns the current time in Unix milliseconds, at most 20 seconds late on a visible page. A change renders the
 * component again.
 */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(notify: () => void): () => void {
  // The clock is set now, because the content that was just rendered may be newer than the last tick.
  now = Date.now();
  const timer = setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    notify();
  }, TICK_MS);
  return () => clearInterval(timer);
}
