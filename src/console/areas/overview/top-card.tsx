import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { seriesColour } from "../../ui/chart/series-colours.ts";
import { useRangeSearch } from "../../ui/filters/range.ts";
import { Segments } from "../../ui/forms/segments.tsx";
import { Card } from "../../ui/page/card.tsx";
import { formatShare, formatShortCount } from "../../ui/text/format.ts";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import type { Overview } from "./overview.ts";
import { NoTraffic } from "./traffic-cards.tsx";

const GROUPS = ["models", "keys", "organizations", "channels"] as const;
type Group = (typeof GROUPS)[number];
/** For each grouping of this card, the grouping of the usage page that lists all items. */
const BY = { models: "model", keys: "key", organizations: "organization", channels: "channel" } as const;
/** For each grouping, the name of the filter in the list of requests. */
const FILTERS = {
  models: "model",
  keys: "keyId",
  organizations: "organization",
  channels: "channel",
} as const;
type Share = Overview["top"][Group][number];

/** Shows the spend by model, key, organization or channel. The address contains the chosen grouping. */
export function TopCard({ overview: { top, currency } }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const { filters, change } = useFilters();
  const group = GROUPS.find((known) => known === filters["by"]) ?? "models";
  const shares = top[group];
  return (
    <Card
      title={t("top")}
      about={
        <TextLink to="/money/usage" search={{ ...useRangeSearch(), by: BY[group] }}>
          {t("top.all")}
        </TextLink>
      }
      actions={
        <Segments
          label={t("top")}
          segments={GROUPS.map((id) => ({ id, label: t(`top.${id}`) }))}
          chosen={group}
          onChoose={(id) => change({ by: id === "models" ? undefined : id })}
        />
      }
    >
      {shares.length === 0 ? (
        <NoTraffic />
      ) : (
        <BarList
          bars={shares.map((share) => ({
            name: share.id,
            label: <ShareLink group={group} share={share} />,
            share: share.share,
            value: <Money amount={share.amount} currency={currency} isShort />,
            detail: (
              <>
                {share.errors > 0 && <FailedLink group={group} share={share} />}
                {`${t("requests.count", { count: share.requests, shown: formatShortCount(share.requests) })} · ${formatShare(share.share)}`}
              </>
            ),
          }))}
        />
      )}
    </Card>
  );
}

/** Links to the requests of one item, or to the overview of an organization, in the same range. */
function ShareLink({ group, share: { id, name } }: { group: Group; share: Share }) {
  const { t } = useTranslation("overview");
  const range = useRangeSearch();
  if (id === "") return t("none");
  if (group === "organizations")
    return (
      <TextLink to="/" search={{ ...range, organization: id }}>
        {name}
      </TextLink>
    );
  return (
    <TextLink to="/requests" search={{ ...range, [FILTERS[group]]: id }}>
      {name}
    </TextLink>
  );
}

function FailedLink({ group, share: { id, errors } }: { group: Group; share: Share }) {
  const { t } = useTranslation("overview");
  const range = useRangeSearch();
  return (
    <>
      <TextLink to="/requests" search={{ ...range, [FILTERS[group]]: id, status: "failed" }}>
        {t("errors.count", { count: errors })}
      </TextLink>
      {" · "}
    </>
  );
}

interface Bar {
  /** Name of the series, which decides the bar's colour. */
  name: string;
  label: ReactNode;
  /** Between 0 and 1. */
  share: number;
  value: ReactNode;
  detail?: ReactNode;
}

/** Shows one number of each item as a bar, for comparison. */
function BarList({ bars }: { bars: readonly Bar[] }) {
  const largest = Math.max(...bars.map(({ share }) => share), Number.MIN_VALUE);
  return (
    <ul className="@container flex flex-col gap-3">
      {bars.map(({ name, label, share, value, detail }) => (
        <li key={name} className="flex flex-col gap-1">
          <div className="flex flex-wrap items-baseline gap-x-3 @md:flex-nowrap">
            <span className="min-w-0 flex-1 truncate">{label}</span>
            {detail !== undefined && (
              <span className="order-1 basis-full text-xs whitespace-nowrap text-muted @md:order-none @md:basis-auto">
                {detail}
              </span>
            )}
            <span className="font-medium whitespace-nowrap">{value}</span>
          </div>
          <div aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken">
            <div
              className="h-full min-w-0.5 rounded-full"
              style={{ width: `${(share / largest) * 100}%`, background: seriesColour(name) }}
            />
          </div>
        </li>
      ))}
    </ul>
  );
}
