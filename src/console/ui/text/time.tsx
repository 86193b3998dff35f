import { useNow } from "./clock.ts";
import { formatAge, formatTime } from "./format.ts";

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
