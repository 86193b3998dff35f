import { useSyncExternalStore } from "react";
import { formatAge, formatMoment, formatTime } from "./format.ts";

/** Shows how long ago a moment in ISO 8601 was, and its date and time zone on hover; or the date at once. */
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

/** A moment by its date and time of day, for lists whose rows are compared; how long ago it was on hover. */
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

/** Returns the present in Unix milliseconds, to within 20 seconds. The component renders again as time goes on. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(notify: () => void): () => void {
  // A moment that has just been rendered may be younger than the last tick.
  now = Date.now();
  const timer = setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    notify();
  }, TICK_MS);
  return () => clearInterval(timer);
}
