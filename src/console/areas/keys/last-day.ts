import { useState } from "react";
import { useReading } from "../../api/queries.ts";

const DAY_MS = 86_400_000;

/** How many requests a key made within the last 24 hours; undefined while that is not known. */
export function useLastDay(keyId: string): number | undefined {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString());
  const usage = useReading("usage.list", { groupBy: "key", interval: "hour", keyId, from });
  return usage.data?.totals.requests;
}
