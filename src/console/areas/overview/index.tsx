import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Suspense, lazy, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useEvents, type PageEvent } from "../../api/events.ts";
import { useOrganization } from "../../api/organization.ts";
import { operationQuery } from "../../api/queries.ts";
import { RangePicker } from "../../ui/filters/range-picker.tsx";
import { useRange } from "../../ui/filters/range.ts";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { BudgetCard } from "./budget-card.tsx";
import { ChannelCard } from "./channel-card.tsx";
import { CHECKLIST_HEIGHT, Checklist, useHasChecklist } from "./checklist.tsx";
import { StatusCard, StatusPill } from "./status-card.tsx";
import { TopCard } from "./top-card.tsx";
import { Totals } from "./totals.tsx";
import { LatencyCard, RequestsCard, SpendCard } from "./traffic-cards.tsx";

const FilterSelect = lazy(async () => ({
  default: (await import("../../ui/filters/filter-select.tsx")).FilterSelect,
}));

/** Health, spend, traffic and budgets at a glance. */
export default function OverviewPage() {
  const { t } = useTranslation("overview");
  const query = useOverview();
  return (
    <Page
      title={t("title")}
      about={query.data ? <StatusPill status={query.data.status} /> : <Skeleton className="h-5 w-32" />}
      actions={
        <>
          {query.data && query.data.currencies.length > 1 && (
            <Suspense>
              <FilterSelect
                name="currency"
                label={t("currency")}
                usual={query.data.currency}
                options={query.data.currencies.map((id) => ({ id, label: id }))}
              />
            </Suspense>
          )}
          <RangePicker />
        </>
      }
    >
      <QueryState query={query} skeleton={<OverviewSkeleton />}>
        {(overview) => (
          <div className="flex flex-col gap-4">
            <StatusCard causes={overview.status.causes} />
            <Checklist steps={overview.checklist} />
            <Totals overview={overview} />
            <SpendCard overview={overview} />
            <div className="grid gap-4 lg:grid-cols-2">
              <RequestsCard overview={overview} />
              <LatencyCard overview={overview} />
              <TopCard overview={overview} />
              <BudgetCard budgets={overview.budgets} />
            </div>
            <ChannelCard channels={overview.channels} />
          </div>
        )}
      </QueryState>
    </Page>
  );
}

function useOverview() {
  const { chosen: organizationId } = useOrganization();
  const { currency } = useFilters().filters;
  const { from, to } = useRange();
  const query = useQuery({
    ...operationQuery("overview.get", {
      from,
      to,
      ...(organizationId !== null && { organizationId }),
      ...(currency !== undefined && { currency }),
    }),
    placeholderData: keepPreviousData,
  });
  const { refetch } = query;
  const onEvent = useCallback(
    ({ kind }: PageEvent) => {
      if (kind === "channels") void refetch();
    },
    [refetch],
  );
  useEvents(onEvent);
  return query;
}

/** The page's layout before its data is read. */
function OverviewSkeleton() {
  const hasChecklist = useHasChecklist();
  return (
    <div className="flex flex-col gap-4">
      {hasChecklist && <Skeleton className={CHECKLIST_HEIGHT} />}
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-6">
        {["a", "b", "c", "d", "e", "f"].map((tile) => (
          <Skeleton key={tile} className="h-24 w-full" />
        ))}
      </div>
      <Skeleton className="h-88 w-full" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-88 w-full" />
        <Skeleton className="h-88 w-full" />
      </div>
    </div>
  );
}
