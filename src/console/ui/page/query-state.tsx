import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/call.ts";
import { Card } from "./card.tsx";
import { EmptyState } from "./empty-state.tsx";
import { FailedState } from "./failed-state.tsx";
import { Skeleton } from "./skeleton.tsx";

const NOT_FOUND = 404;

interface QueryStateProps<Data> {
  query: UseQueryResult<Data>;
  /** A placeholder with the layout of the data. */
  skeleton?: ReactNode;
  /** Shown for a record that does not exist. If absent, a missing record is shown like any other failure. */
  missing?: ReactNode;
  children(data: Data): ReactNode;
}

/** True for the failure to read a record that does not exist. */
export function isNotFound(error: Error | null): boolean {
  return error instanceof ApiError && error.status === NOT_FOUND;
}

/** Shows the data of a query. Without data, shows the skeleton or, after a failure, the error. */
export function QueryState<Data>({ query, skeleton, missing, children }: QueryStateProps<Data>) {
  const { t } = useTranslation();
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (missing !== undefined && isNotFound(query.error))
    return (
      <Card>
        <EmptyState>{missing}</EmptyState>
      </Card>
    );
  if (query.isError)
    return <FailedState error={query.error} at={query.errorUpdatedAt} onRetry={() => void query.refetch()} />;
  return (
    <div role="status" aria-label={t("loading")}>
      {skeleton ?? <Skeleton className="h-40 w-full" />}
    </div>
  );
}
