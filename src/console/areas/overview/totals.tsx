import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { formatCount, formatDuration, formatShare, formatShortCount } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import type { Overview } from "./overview.ts";

/** The range in six numbers. */
export function Totals({ overview: { totals, currency } }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const { amount, requests, errors, images, tokens, p50Ms, p95Ms } = totals;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 xl:grid-cols-6">
      <Tile name={t("spend")} value={<Money amount={amount} currency={currency} isShort />} />
      <Tile name={t("requests")} value={<Count count={requests} />} />
      <Tile
        name={t("errors")}
        value={requests === 0 ? "–" : formatShare(errors / requests)}
        detail={requests === 0 ? undefined : t("errors.count", { count: errors })}
      />
      <Tile name={t("images")} value={<Count count={images} />} />
      <Tile name={t("tokens")} value={<Count count={tokens} />} />
      <Tile
        name={t("latency")}
        value={p50Ms === null ? "–" : formatDuration(p50Ms)}
        detail={p95Ms === null ? undefined : t("latency.p95", { duration: formatDuration(p95Ms) })}
      />
    </dl>
  );
}

function Tile({ name, value, detail }: { name: string; value: ReactNode; detail?: string | undefined }) {
  return (
    <div className="flex min-h-24 flex-col gap-1 bg-surface px-4 py-3">
      <dt className="text-muted">{name}</dt>
      <dd className="text-xl leading-7 font-semibold tracking-tight">{value}</dd>
      {detail !== undefined && <dd className="text-xs text-muted">{detail}</dd>}
    </div>
  );
}

function Count({ count }: { count: number }) {
  return count < 10_000 ? (
    formatCount(count)
  ) : (
    <span title={formatCount(count)}>{formatShortCount(count)}</span>
  );
}
