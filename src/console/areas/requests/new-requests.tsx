import { useQueryClient } from "@tanstack/react-query";
import { ArrowUp } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { call, type Input } from "../../api/call.ts";
import { useEvents, type PageEvent } from "../../api/events.ts";
import { Button } from "../../ui/forms/button.tsx";
import type { RequestRow } from "./columns.tsx";

/** Number of new requests from which their count is shown as `100+`. */
const MAX_COUNTED = 100;

/** Shows how many requests match the filter and are newer than the list. A press on the button reads the list again. */
export function NewRequests({
  filter,
  shown,
}: {
  filter: Input<"requests.list">;
  shown: readonly RequestRow[] | undefined;
}) {
  const { t } = useTranslation("requests");
  const client = useQueryClient();
  const [count, setCount] = useState(0);
  const latest = useRef({ filter, shown });
  latest.current = { filter, shown };
  const newest = newestOf(shown);
  useEffect(() => setCount(0), [newest]);
  useEvents(
    useCallback(({ kind }: PageEvent) => {
      const { filter, shown } = latest.current;
      if (kind !== "requests" || shown === undefined || filter.to !== undefined) return;
      countNew(filter, shown).then(
        (found) => newestOf(latest.current.shown) === newestOf(shown) && setCount(found),
        // Errors are ignored, because the list itself shows that the gateway is not reachable.
        () => {},
      );
    }, []),
  );
  const readAgain = () =>
    client.resetQueries({ predicate: ({ queryKey }) => queryKey[0] === "requests.list" });
  return (
    <span aria-live="polite">
      {count > 0 && (
        <Button icon={ArrowUp} kind="quiet" onPress={() => void readAgain()}>
          {t("new", { count, shown: count < MAX_COUNTED ? count : `${MAX_COUNTED}+` })}
        </Button>
      )}
    </span>
  );
}

function newestOf(shown: readonly RequestRow[] | undefined): string | undefined {
  return shown?.[0]?.id;
}

async function countNew(filter: Input<"requests.list">, shown: readonly RequestRow[]): Promise<number> {
  const newest = shown[0];
  const since = newest ? { from: newest.at } : {};
  const { data } = await call("requests.list", { ...filter, ...since, limit: MAX_COUNTED });
  const known = new Set(shown.map(({ id }) => id));
  return data.filter(({ id }) => !known.has(id)).length;
}
