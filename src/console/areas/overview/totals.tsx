import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, ReactNode, Ref } from "react";
import { useTranslation } from "react-i18next";
import { useRangeSearch } from "../../ui/filters/range.ts";
import {
  formatChange,
  formatCount,
  formatDuration,
  formatShare,
  formatShortCount,
} from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import type { Overview } from "./overview.ts";

/** The range in six numbers, each compared with the range before it and with a link to its parts. */
export function Totals({ overview }: { overview: Overview }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 xl:grid-cols-[1.6fr_repeat(5,1fr)]">
      {useTiles(overview).map((tile) => (
        <Tile key={tile.name} {...tile} />
      ))}
    </dl>
  );
}

interface TileProps {
  name: string;
  value: ReactNode;
  detail?: ReactNode;
  to: "/money/usage" | "/requests";
  search: Record<string, string>;
  isFocus?: boolean;
  isBad?: boolean;
}

function useTiles({ totals, previous, currency }: Overview): TileProps[] {
  const { t } = useTranslation("overview");
  const range = useRangeSearch();
  const { amount, requests, errors, images, tokens, p50Ms, p95Ms } = totals;
  const usage = { to: "/money/usage", search: { ...range, currency } } as const;
  const list = { to: "/requests", search: { ...range } } as const;
  return [
    {
      name: t("spend"),
      isFocus: true,
      value: <Money amount={amount} currency={currency} isShort />,
      detail: <Change now={Number(amount)} before={Number(previous.amount)} />,
      ...usage,
    },
    {
      name: t("requests"),
      value: <Count count={requests} />,
      detail: <Change now={requests} before={previous.requests} />,
      ...list,
    },
    {
      name: t("errors"),
      isBad: requests > 0 && errors / requests >= FAILING,
      value: requests === 0 ? "–" : formatShare(errors / requests),
      detail: requests === 0 ? undefined : t("errors.count", { count: errors }),
      to: "/requests",
      search: { ...range, status: "failed" },
    },
    {
      name: t("images"),
      value: <Count count={images} />,
      detail: <Change now={images} before={previous.images} />,
      ...usage,
    },
    {
      name: t("tokens"),
      value: <Count count={tokens} />,
      detail: <Change now={tokens} before={previous.tokens} />,
      ...usage,
    },
    {
      name: t("latency"),
      value: p50Ms === null ? "–" : formatDuration(p50Ms),
      detail: p95Ms === null ? undefined : t("latency.p95", { duration: formatDuration(p95Ms) }),
      ...list,
    },
  ];
}

/** A share of failed requests that is shown as bad. */
const FAILING = 0.05;

function TileAnchor(props: AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) {
  return (
    <a {...props} className="rounded-sm after:absolute after:inset-0 hover:text-accent">
      {props.children}
    </a>
  );
}

const TileLink = createLink(TileAnchor);

function Tile({ name, value, detail, to, search, isFocus = false, isBad = false }: TileProps) {
  return (
    <div className="relative flex min-h-24 flex-col gap-1 bg-surface px-4 py-3 hover:bg-hover max-sm:first:col-span-2 max-xl:last:col-span-2 sm:max-xl:first:col-span-3">
      <dt className="text-muted">{name}</dt>
      <dd
        className={`font-semibold tracking-tight ${isFocus ? "text-3xl leading-9" : "text-xl leading-7"} ${isBad ? "text-bad" : ""}`}
      >
        <TileLink to={to} search={search}>
          {value}
        </TileLink>
      </dd>
      {detail !== undefined && <dd className="text-xs text-muted">{detail}</dd>}
    </div>
  );
}

/** The difference to the range of the same length before. */
function Change({ now, before }: { now: number; before: number }) {
  const { t } = useTranslation("overview");
  if (before === 0) return now === 0 ? null : t("before.none");
  return t("before", { change: formatChange(now, before) });
}

function Count({ count }: { count: number }) {
  return count < 10_000 ? (
    formatCount(count)
  ) : (
    <span title={formatCount(count)}>{formatShortCount(count)}</span>
  );
}
