import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";

/** An event from the gateway: the kind of the changed thing, such as `jobs`, and its data. */
export interface PageEvent {
  kind: string;
  data: unknown;
}

const LISTENERS = new Set<(event: PageEvent) => void>();
const REOPEN_MS = 5_000;
const KINDS = ["jobs", "channels", "requests"] as const;

let source: EventSource | null = null;

/** Calls `onEvent` for the gateway's events while the page is visible. All components share one connection. */
export function useEvents(onEvent: (event: PageEvent) => void): void {
  useEffect(() => {
    LISTENERS.add(onEvent);
    follow();
    return () => {
      LISTENERS.delete(onEvent);
      follow();
    };
  }, [onEvent]);
}

/** Repeats all queries of the given kinds when the gateway reports a change of such a kind. */
export function useLive(...kinds: readonly (typeof KINDS)[number][]): void {
  const client = useQueryClient();
  const wanted = kinds.join(" ");
  const onEvent = useCallback(
    ({ kind }: PageEvent) => {
      if (wanted.split(" ").includes(kind))
        void client.invalidateQueries({
          predicate: ({ queryKey }) => String(queryKey[0]).startsWith(`${kind}.`),
        });
    },
    [client, wanted],
  );
  useEvents(onEvent);
}

document.addEventListener("visibilitychange", follow);

function follow(): void {
  const isWanted = LISTENERS.size > 0 && !document.hidden;
  if (!isWanted) {
    source?.close();
    source = null;
    return;
  }
  if (source) return;
  source = new EventSource("/admin/v1/events");
  // After a refusal (no session, no database), the browser does not reconnect by itself.
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    source = null;
    setTimeout(follow, REOPEN_MS);
  });
  for (const kind of KINDS)
    source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
      const event: PageEvent = { kind, data: JSON.parse(data) };
      for (const listener of LISTENERS) listener(event);
    });
}
