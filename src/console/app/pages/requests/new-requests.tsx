import { useQueryClient } from "@tanstack/react-query";
import { ArrowUp } from "lucide-react";
import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../components/button.tsx";
import { useEvents, type LiveEvent } from "../../lib/events.ts";

/** How many requests have ended since the list was read; pressing reads it again. */
export function NewRequests() {
  const { t } = useTranslation("requests");
  const client = useQueryClient();
  const [count, setCount] = useState(0);
  useEvents(
    useCallback(({ kind, data }: LiveEvent) => {
      if (kind === "requests") setCount((before) => before + countOf(data));
    }, []),
  );
  const readNew = () => {
    setCount(0);
    void client.resetQueries({ predicate: ({ queryKey }) => queryKey[0] === "requests.list" });
  };
  return (
    <span aria-live="polite">
      {count > 0 && (
        <Button icon={ArrowUp} kind="quiet" onPress={readNew}>
          {t("new", { count })}
        </Button>
      )}
    </span>
  );
}

function countOf(data: unknown): number {
  const count: unknown = Object(data)["count"];
  return typeof count === "number" ? count : 1;
}
