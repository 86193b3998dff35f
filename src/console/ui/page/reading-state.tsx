import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { FailedState } from "./failed-state.tsx";
import { Skeleton } from "./skeleton.tsx";

interface ReadingStateProps<Data> {
  query: UseQueryResult<Data>;
  /** In the final layout. */
  skeleton?: ReactNode;
  children(data: Data): ReactNode;
}

/** What a query has read; before that its skeleton, and what went wrong where it failed. */
export function ReadingState<Data>({ query, skeleton, children }: ReadingStateProps<Data>) {
  const { t } = useTranslation();
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError)
    return <FailedState error={query.error} at={query.errorUpdatedAt} onRetry={() => void query.refetch()} />;
  return (
    <div role="status" aria-label={t("loading")}>
      {skeleton ?? <Skeleton className="h-40 w-full" />}
    </div>
  );
}
