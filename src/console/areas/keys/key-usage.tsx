import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { Chart } from "../../ui/chart/chart.tsx";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { formatMoney, formatShortCount } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";

const DAYS = 30;
const DAY_MS = 86_400_000;

type Usage = Output<"usage.list">;

/** Shows the usage of a key in the last 30 days, by day and model. */
export function KeyUsage({ id }: { id: string }) {
  const { t } = useTranslation("keys");
  const [from] = useState(() => new Date(Date.now() - DAYS * DAY_MS).toISOString());
  const usage = useOperationQuery("usage.list", { groupBy: "model", interval: "day", keyId: id, from });
  return (
    <Card title={t("detail.usage")}>
      <QueryState query={usage} skeleton={<Skeleton className="h-80 w-full" />}>
        {(data) =>
          data.totals.requests === 0 ? (
            // This element has the height of the skeleton, so that nothing below it moves.
            <div className="flex min-h-80 flex-col justify-center">
              <EmptyState>{t("detail.usage.empty")}</EmptyState>
            </div>
          ) : (
            <UsageView usage={data} />
          )
        }
      </QueryState>
    </Card>
  );
}

function UsageView({ usage }: { usage: Usage }) {
  const { t } = useTranslation("keys");
  const { totals, currency, series, groups, interval, isUnfinished } = usage;
  const figures = [
    { label: t("usage.amount"), value: <Money amount={totals.amount} currency={currency} isShort /> },
    { label: t("usage.requests"), value: formatShortCount(totals.requests) },
    { label: t("usage.images"), value: formatShortCount(totals.images) },
    { label: t("usage.tokens"), value: formatShortCount(totals.tokens) },
  ];
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        {figures.map(({ label, value }) => (
          <div key={label}>
            <dt className="text-xs text-muted">{label}</dt>
            <dd className="text-lg font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      <Chart
        kind="bar"
        label={t("detail.usage")}
        interval={interval}
        isUnfinished={isUnfinished}
        times={series.map(({ at }) => at)}
        series={groups.map(({ id, name, points }) => ({
          name: id,
          label: name,
          values: points.map(({ amount }) => Number(amount)),
        }))}
        format={(value) => formatMoney(String(value), currency)}
      />
    </div>
  );
}
