import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ListedModel, ListedPrice } from "../../api/public.ts";
import { Chart } from "../../ui/chart/chart.tsx";
import { Card } from "../../ui/page/card.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { CodeSnippet } from "../../ui/text/code-snippet.tsx";
import { formatCount, formatShortCount, formatShortMoney } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import { keySnippets } from "../keys/snippets.ts";
import { BudgetsAndLimits } from "./budgets-and-limits.tsx";
import { LastRequests } from "./last-requests.tsx";
import { ModelPriceList } from "./model-prices.tsx";
import { readWithKey, type OwnUsage } from "./own-usage.ts";

/** Shows a key's usage, budgets, limits, requests, models and prices, and the code of a first call. */
export function KeyView({ secret }: { secret: string }) {
  const usage = useOwn<OwnUsage>("usage", "/v1/usage", secret);
  const models = useOwn<{ data: ListedModel[] }>("models", "/v1/models", secret);
  const prices = useOwn<{ data: ListedPrice[] }>("prices", "/v1/pricing/lookup", secret);
  const { t } = useTranslation("ownKey");
  const first = models.data?.data[0];
  return (
    <>
      <QueryState query={usage}>
        {(usage) => (
          <>
            <KeyHead usage={usage} />
            <Totals usage={usage} />
            <SpendByDay usage={usage} />
            <BudgetsAndLimits budgets={usage.budgets} limits={usage.limits} />
            <LastRequests requests={usage.requests} />
          </>
        )}
      </QueryState>
      <Card title={t("models")} isFlush>
        <QueryState query={models}>
          {(models) => (
            <QueryState query={prices}>
              {(prices) => <ModelPriceList models={models.data} prices={prices.data} />}
            </QueryState>
          )}
        </QueryState>
      </Card>
      {first && (
        <CodeSnippet
          label={t("snippets")}
          snippets={keySnippets("YOUR_KEY", first.type === "image" ? "image" : "text", first.id)}
        />
      )}
    </>
  );
}

function useOwn<Data>(kind: string, path: string, secret: string) {
  return useQuery({
    // The query key stays in the cache, so it must not contain the secret.
    queryKey: ["ownKey", kind],
    queryFn: ({ signal }) => readWithKey<Data>(path, secret, signal),
  });
}

function KeyHead({ usage: { key } }: { usage: OwnUsage }) {
  const { t } = useTranslation("ownKey");
  return (
    <div>
      <h1 className="text-xl font-semibold tracking-tight break-words">{key.name}</h1>
      <p className="mt-1 flex flex-wrap gap-x-3 text-muted">
        <span className="font-mono">{key.prefix}…</span>
        <span>{key.scopes.join(", ")}</span>
        <span>
          {key.expires_at === null ? (
            t("endless")
          ) : (
            <>
              {t("expires")} <Time at={key.expires_at} />
            </>
          )}
        </span>
      </p>
    </div>
  );
}

function Totals({ usage: { totals, currency } }: { usage: OwnUsage }) {
  const { t } = useTranslation("ownKey");
  const tokens = Object.values(totals.tokens).reduce((sum, count) => sum + count, 0);
  const tile = "flex flex-col gap-1 bg-surface px-4 py-3";
  const figure = "text-xl leading-7 font-semibold tracking-tight";
  return (
    <section aria-label={t("days")}>
      <p className="mb-2 text-muted">{t("days")}</p>
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
        <div className={tile}>
          <dt className="text-muted">{t("spend")}</dt>
          <dd className={figure}>
            <Money amount={totals.amount} currency={currency} isShort />
          </dd>
        </div>
        <div className={tile}>
          <dt className="text-muted">{t("requests")}</dt>
          <dd className={figure}>{formatCount(totals.requests)}</dd>
        </div>
        <div className={tile}>
          <dt className="text-muted">{t("images")}</dt>
          <dd className={figure}>{formatCount(totals.images)}</dd>
        </div>
        <div className={tile}>
          <dt className="text-muted">{t("tokens")}</dt>
          <dd className={figure} title={formatCount(tokens)}>
            {formatShortCount(tokens)}
          </dd>
        </div>
      </dl>
    </section>
  );
}

const DAY_MS = 86_400_000;

/** Shows the cost of each model on each day. */
function SpendByDay({ usage: { days, from, to, currency } }: { usage: OwnUsage }) {
  const { t } = useTranslation("ownKey");
  const { times, series } = useMemo(() => byModel(days, from, to), [days, from, to]);
  const format = useCallback((value: number) => formatShortMoney(String(value), currency), [currency]);
  if (series.length === 0) return null;
  return (
    <Card title={t("spend.byModel")}>
      <Chart
        label={t("spend.byModel")}
        kind="bar"
        interval="day"
        times={times}
        series={series}
        format={format}
      />
    </Card>
  );
}

/** Returns one value per model for every day of the chart. The response has only the days with requests. */
function byModel(days: OwnUsage["days"], from: string, to: string) {
  const first = Date.parse(from.slice(0, 10));
  const last = Date.parse(to);
  const times: string[] = [];
  for (let at = first; at <= last; at += DAY_MS) times.push(new Date(at).toISOString());
  const known = new Map(days.map((day) => [day.date, day.models]));
  const names = [...new Set(days.flatMap(({ models }) => models.map(({ model }) => model)))];
  const series = names.map((name) => ({
    name,
    label: name,
    values: times.map((at) =>
      Number(known.get(at.slice(0, 10))?.find(({ model }) => model === name)?.amount ?? 0),
    ),
  }));
  return { times, series };
}
