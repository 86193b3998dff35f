import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, ReactNode, Ref } from "react";
import { useTranslation } from "react-i18next";
import { Sparkline } from "../../ui/chart/sparkline.tsx";
import { useRangeSearch } from "../../ui/filters/range.ts";
import {
  formatChange,
  formatCount,
  formatDuration,
  formatShare,
  formatShortCount,
  formatShortMoney,
} from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import type { Overview } from "./overview.ts";

/**
 * Shows four figures of the range. Each figure has a small chart, the value of the previous range and a link to
 * details. Two less important figures are below the four figures.
 */
export function Totals({ overview }: { overview: Overview }) {
  const figures = useFigures(overview);
  const lesser = useLesserFigures(overview);
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-b-xl bg-line xl:grid-cols-4">
      {figures.map((figure) => (
        <Figure key={figure.name} {...figure} isUnfinished={overview.isUnfinished} />
      ))}
      {lesser.map((figure) => (
        <LesserFigure key={figure.name} {...figure} />
      ))}
    </dl>
  );
}

interface LesserFigureProps {
  name: string;
  value: ReactNode;
  /** Texts beside the value, such as the value of the previous range. */
  details: readonly ReactNode[];
  to: "/money/usage" | "/requests";
  search: Record<string, string>;
}

interface FigureProps extends LesserFigureProps {
  course: readonly (number | null)[];
  isBad?: boolean;
}

function useFigures({ totals, previous, currency, series }: Overview): FigureProps[] {
  const { t } = useTranslation("overview");
  const { usage, requests } = useParts(currency);
  const before = useBefore();
  return [
    {
      name: t("spend"),
      value: <Money amount={totals.amount} currency={currency} isShort />,
      details: [before(previous.amount, (amount) => formatShortMoney(amount, currency), totals.amount)],
      course: series.map(({ amount }) => Number(amount)),
      ...usage,
    },
    {
      name: t("requests"),
      value: <Count count={totals.requests} />,
      details: [before(previous.requests, shownCount, totals.requests)],
      course: series.map((point) => point.requests),
      ...requests,
    },
    {
      name: t("errors"),
      isBad: totals.requests > 0 && shareOfErrors(totals) >= FAILING,
      value: totals.requests === 0 ? "–" : formatShare(shareOfErrors(totals)),
      details: [
        totals.requests > 0 && t("errors.count", { count: totals.errors }),
        before(previous.requests === 0 ? null : shareOfErrors(previous), formatShare),
      ],
      course: series.map((point) => (point.requests === 0 ? null : shareOfErrors(point))),
      to: "/requests",
      search: { ...requests.search, status: "failed" },
    },
    {
      name: t("latency"),
      value: totals.p50Ms === null ? "–" : formatDuration(totals.p50Ms),
      details: [
        totals.p95Ms !== null && t("latency.p95", { duration: formatDuration(totals.p95Ms) }),
        before(previous.p50Ms, formatDuration),
      ],
      course: series.map(({ p50Ms }) => p50Ms),
      ...requests,
    },
  ];
}

function useLesserFigures({ totals, previous, currency }: Overview): LesserFigureProps[] {
  const { t } = useTranslation("overview");
  const { usage } = useParts(currency);
  const before = useBefore();
  return (["images", "tokens"] as const).map((name) => ({
    name: t(name),
    value: <Count count={totals[name]} />,
    details: [before(previous[name], shownCount, totals[name])],
    to: usage.to,
    search: usage.search,
  }));
}

/** Returns the links to the two pages with the figures' details in the same range. */
function useParts(currency: string) {
  const range = useRangeSearch();
  return {
    usage: { to: "/money/usage", search: { ...range, currency } },
    requests: { to: "/requests", search: { ...range } },
  } as const;
}

/** Returns a function that describes the value of the previous range and, if the current value is given, the change. */
function useBefore() {
  const { t } = useTranslation("overview");
  return <Value extends string | number>(
    then: Value | null,
    format: (value: Value) => string,
    now?: Value,
  ): string => {
    if (then === null || (now !== undefined && Number(then) === 0)) return t("before.none");
    const before = format(then);
    return now === undefined
      ? t("before", { before })
      : t("before.change", { before, change: formatChange(Number(now), Number(then)) });
  };
}

/** Share of failed requests at which the figure is shown as bad. */
const FAILING = 0.05;

function shareOfErrors({ errors, requests }: { errors: number; requests: number }): number {
  return errors / requests;
}

function FigureAnchor(props: AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) {
  return (
    <a {...props} className="rounded-sm after:absolute after:inset-0 hover:text-accent">
      {props.children}
    </a>
  );
}

const FigureLink = createLink(FigureAnchor);

function Figure({
  name,
  value,
  details,
  to,
  search,
  course,
  isUnfinished,
  isBad = false,
}: FigureProps & { isUnfinished: boolean }) {
  return (
    <div className="relative flex min-w-0 flex-col gap-1 bg-surface px-4 pt-4 pb-3 hover:bg-hover sm:px-5">
      <dt className="text-muted">{name}</dt>
      <dd
        className={`text-2xl leading-8 font-semibold tracking-tight sm:text-3xl sm:leading-9 ${isBad ? "text-bad" : ""}`}
      >
        <FigureLink to={to} search={search}>
          {value}
        </FigureLink>
      </dd>
      <dd className="flex min-h-8 flex-wrap content-start gap-x-2 text-xs text-muted sm:min-h-4">
        <Details details={details} />
      </dd>
      <dd className="mt-2">
        <Sparkline values={course} isUnfinished={isUnfinished} isBad={isBad} />
      </dd>
    </div>
  );
}

function LesserFigure({ name, value, details, to, search }: LesserFigureProps) {
  return (
    <div className="relative col-span-2 flex min-w-0 flex-wrap items-baseline gap-x-2 bg-surface px-4 py-2.5 hover:bg-hover sm:px-5">
      <dt className="text-muted">{name}</dt>
      <dd className="font-medium">
        <FigureLink to={to} search={search}>
          {value}
        </FigureLink>
      </dd>
      <dd className="flex flex-wrap gap-x-2 text-xs text-muted">
        <Details details={details} />
      </dd>
    </div>
  );
}

function Details({ details }: Pick<LesserFigureProps, "details">) {
  return details.map((detail, index) => detail !== false && <span key={index}>{detail}</span>);
}

function Count({ count }: { count: number }) {
  return <span title={formatCount(count)}>{shownCount(count)}</span>;
}

function shownCount(count: number): string {
  return count < 10_000 ? formatCount(count) : formatShortCount(count);
}
