import { useEffect, useState } from "react";
import { formatDuration } from "../../ui/text/format.ts";

const TICK_MS = 1_000;

/** How long something has been running, second by second. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{formatDuration(Math.max(0, Math.round((now - since) / TICK_MS) * TICK_MS))}</>;
}
