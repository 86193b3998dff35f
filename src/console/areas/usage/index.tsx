import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChartNoAxesCombined } from "lucide-react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Input, Output } from "../../api/call.ts";
import { useChannelOptions, useKeyOptions, useModelOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { operationQuery } from "../../api/queries.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { REST_COLOUR } from "../../ui/chart/series-colours.ts";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { RangePicker } from "../../ui/filters/range-picker.tsx";
import { useNarrowing, useRange } from "../../ui/filters/range.ts";
import { Segments } from "../../ui/forms/segments.tsx";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { DataTable } from "../../ui/table/data-table.tsx";
import { ExportMenu } from "../../ui/table/export-menu.tsx";
import { formatCount, formatShortMoney } from "../../ui/text/format.ts";
import { noneOf, useUsageColumns } from "./columns.tsx";
import { zoneName } from "../../ui/text/zone.ts";

const DEFAULT_RANGE = "7d";
/** Maximum number of groups that the gateway lists at once. */
const MAX_GROUPS = 10_000;
/** Number of groups that have their own colour in the chart. */
const MAX_NAMED = 7;
const GROUPS = ["model", "key", "organization", "channel", "member", "client"] as const;
const STEPS = ["hour", "day", "month"] as const;

type Usage = Output<"usage.list">;

/** The page of usage. It shows spend over time, and the usage of each group compared with the previous range. */
export default function UsagePage() {
  const { t } = useTranslation(["money", "shell"]);
  const { change } = useFilters();
  const filter = useUsageFilter();
  const query = useQuery({
    ...operationQuery("usage.list", { ...filter, limit: MAX_GROUPS }),
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  const rows = data?.groups.filter(({ requests }) => requests > 0);
  return (
    <Page
      title={t("shell:nav.money")}
      about={t("usage.intro")}
      tabs={<AreaTabs area="money" />}
      actions={<RangePicker usual={DEFAULT_RANGE} />}
    >
      <QueryState query={query} skeleton={<Skeleton className="h-88 w-full" />}>
        {(usage) => <SpendOverTime by={filter.groupBy} usage={usage} />}
      </QueryState>
      <DataTable
        id="usage"
        label={t("usage.title")}
        columns={useUsageColumns(filter.groupBy, data)}
        list={{
          rows,
          error: query.error,
          failedAt: query.errorUpdatedAt,
          hasMore: false,
          isReadingMore: false,
          readMore: () => {},
          retry: () => void query.refetch(),
        }}
        rowId={({ id }) => id}
        filters={
          <>
            <Segments
              label={t("usage.by")}
              segments={GROUPS.map((id) => ({ id, label: t(`usage.by.${id}`) }))}
              chosen={filter.groupBy}
              onChoose={(id) => change({ by: id === "model" ? undefined : id })}
            />
            <UsageFilters usage={data} />
          </>
        }
        actions={<ExportMenu of="usage" filter={filter} />}
        empty={<EmptyState icon={ChartNoAxesCombined}>{t("usage.empty")}</EmptyState>}
      />
      {data && data.groupCount > MAX_GROUPS && (
        <p className="text-muted">
          {t("usage.cut", { shown: formatCount(MAX_GROUPS), count: data.groupCount })}
        </p>
      )}
    </Page>
  );
}

/** Converts the filters in the address to the operation's input. */
function useUsageFilter(): Input<"usage.list"> & { groupBy: (typeof GROUPS)[number] } {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const { from, to } = useRange(DEFAULT_RANGE);
  const { by, step, model, keyId, channel, currency } = filters;
  const interval = STEPS.find((known) => known === step);
  return {
    groupBy: GROUPS.find((known) => known === by) ?? "model",
    ...(id !== null && { organizationId: id }),
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { keyId }),
    ...(channel !== undefined && { channel }),
    ...(currency !== undefined && { currency }),
    ...(interval && { interval }),
    from,
    to,
    zone: zoneName(),
  };
}

function UsageFilters({ usage }: { usage: Usage | undefined }) {
  const { t } = useTranslation(["money", "requests"]);
  const { id } = useOrganization();
  const steps = STEPS.map((step) => ({ id: step, label: t(`usage.interval.${step}`) }));
  const currencies = usage?.currencies ?? [];
  return (
    <>
      <FilterSelect name="step" label={t("usage.interval")} options={steps} />
      <FilterSelect name="model" label={t("requests:filter.model")} options={useModelOptions()} />
      <FilterSelect name="keyId" label={t("requests:filter.key")} options={useKeyOptions(id ?? undefined)} />
      <FilterSelect name="channel" label={t("requests:filter.channel")} options={useChannelOptions()} />
      {usage && currencies.length > 1 && (
        <FilterSelect
          name="currency"
          label={t("usage.currency")}
          usual={usage.currency}
          options={currencies.map((each) => ({ id: each, label: each }))}
        />
      )}
    </>
  );
}

/** Shows the spend of the most expensive groups over time, and the sum of all others. */
function SpendOverTime({ by, usage }: { by: (typeof GROUPS)[number]; usage: Usage }) {
  const { t } = useTranslation("money");
  const narrow = useNarrowing();
  const { series, groups, currency, interval, zone, isUnfinished } = usage;
  const times = useMemo(() => series.map(({ at }) => at), [series]);
  const shown = useMemo(() => {
    const named = groups
      .filter(({ amount }) => Number(amount) > 0)
      .slice(0, MAX_NAMED)
      .map(({ id, name, points }) => ({
        name: id,
        label: name === "" ? t(noneOf(by)) : name,
        values: points.map(({ amount }) => Number(amount)),
      }));
    const rest = series.map(({ amount }, index) =>
      Math.max(
        0,
        named.reduce((left, { values }) => left - (values[index] ?? 0), Number(amount)),
      ),
    );
    return groups.length > named.length
      ? [...named, { name: "other", label: t("usage.other"), values: rest, colour: REST_COLOUR }]
      : named;
  }, [by, groups, series, t]);
  return (
    <Card title={t("usage.chart")}>
      {shown.length === 0 ? (
        <EmptyState>{t("usage.empty")}</EmptyState>
      ) : (
        <Chart
          kind="bar"
          label={t("usage.chart")}
          times={times}
          series={shown}
          interval={interval}
          zone={zone}
          isUnfinished={isUnfinished}
          onSelect={narrow}
          format={(value) => formatShortMoney(String(value), currency)}
        />
      )}
    </Card>
  );
}
