import { formatAge, formatTime } from "./format.ts";
import { useSyncExternalStore } from "react";

/** A moment in ISO 8601: how long ago, and the date with its time zone on hover; or the date at once. */
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

const TICK_MS = 20_000;

let now = Date.now();

/** Now, to within some seconds; a component that uses it renders again as time goes on. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(notify: () => void): () => void {
  // What has just been shown may be younger than the last tick.
  now = Date.now();
  const timer = setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    notify();
  }, TICK_MS);
  return () => clearInterval(timer);
}
