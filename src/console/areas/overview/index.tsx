import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Suspense, lazy, useCallback, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useEvents, type PageEvent } from "../../api/events.ts";
import { useOrganization } from "../../api/organization.ts";
import { operationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { RangePicker } from "../../ui/filters/range-picker.tsx";
import { useRange } from "../../ui/filters/range.ts";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { BudgetCard } from "./budget-card.tsx";
import { ChannelCard } from "./channel-card.tsx";
import type { Overview } from "./overview.ts";
import { TopCard } from "./top-card.tsx";
import { LatencyCard, RequestsCard, SpendCard } from "./traffic-cards.tsx";
import { Verdict } from "./verdict.tsx";
import { zoneName } from "../../ui/text/zone.ts";

// These components are loaded after the page, because most installations need neither of them.
const Checklist = lazy(async () => ({ default: (await import("./checklist.tsx")).Checklist }));
const FilterSelect = lazy(async () => ({
  default: (await import("../../ui/filters/filter-select.tsx")).FilterSelect,
}));

/** Heights of the checklist when its layout has one, two or five columns. */
const CHECKLIST_HEIGHT = "h-[31rem] w-full sm:h-[20.25rem] xl:h-[12rem]";
const STORED = "gateway.checklist.done";

/** The overview page: health, spend, traffic and budgets. */
export default function OverviewPage() {
  const { t } = useTranslation("overview");
  const query = useOverview();
  const isToDo = useIsToDo(query.data?.checklist);
  return (
    <Page
      title={t("title")}
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
            <Verdict overview={overview} />
            {isToDo && (
              <Suspense fallback={<Skeleton className={CHECKLIST_HEIGHT} />}>
                <Checklist steps={overview.checklist} />
              </Suspense>
            )}
            <div className={PARTS}>
              <div className="min-w-0 lg:col-span-2">
                <SpendCard overview={overview} />
              </div>
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
      zone: zoneName(),
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

/** Layout of the cards below the verdict: three columns on a wide screen. */
const PARTS = "grid gap-4 lg:grid-cols-2 3xl:grid-cols-3";

/** Shows the page's layout before its data is read. */
function OverviewSkeleton() {
  const hasChecklist = useHasChecklist();
  return (
    <div className="flex flex-col gap-4">
      <div className="rounded-xl border border-line bg-surface">
        <div className="flex h-20 items-center gap-4 border-b border-line px-4 sm:px-5">
          <Skeleton className="size-11 shrink-0 rounded-full" />
          <Skeleton className="h-5 w-56" />
        </div>
        <div className="grid grid-cols-2 gap-px xl:grid-cols-4">
          {["a", "b", "c", "d"].map((figure) => (
            <Skeleton key={figure} className="h-40.5 w-full sm:h-38" />
          ))}
        </div>
        <div className="h-10.25 max-xl:h-20.5" />
      </div>
      {hasChecklist && <Skeleton className={CHECKLIST_HEIGHT} />}
      <div className={PARTS}>
        <Skeleton className="h-88 w-full lg:col-span-2" />
        <Skeleton className="h-88 w-full" />
        <Skeleton className="h-88 w-full" />
      </div>
    </div>
  );
}

/** True for an administrator, unless all steps were done at the last check in this browser. */
function useHasChecklist(): boolean {
  const can = useCan();
  return can("admin") && localStorage.getItem(STORED) === null;
}

/** True while steps are left and the member may take them. */
function useIsToDo(steps: Overview["checklist"] | undefined): boolean {
  const can = useCan();
  const isDone = steps && Object.values(steps).every(Boolean);
  useEffect(() => {
    if (isDone === true) localStorage.setItem(STORED, "true");
    if (isDone === false) localStorage.removeItem(STORED);
  }, [isDone]);
  return isDone === false && can("admin");
}
