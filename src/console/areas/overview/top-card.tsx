import { useTranslation } from "react-i18next";
import { BarList } from "../../ui/chart/bar-list.tsx";
import { Card } from "../../ui/page/card.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Segments } from "../../ui/forms/segments.tsx";
import { formatShare, formatShortCount } from "../../ui/text/format.ts";
import { useFilters } from "../../address.ts";
import type { Overview } from "./overview.ts";
import { NoTraffic } from "./traffic-cards.tsx";

const GROUPS = ["models", "keys", "organizations", "channels"] as const;
type Group = (typeof GROUPS)[number];
type Share = Overview["top"][Group][number];

/** What was spent on what, by whom and where; which of them stands in the address. */
export function TopCard({ overview: { top, currency } }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const { filters, change } = useFilters();
  const group = GROUPS.find((known) => known === filters["by"]) ?? "models";
  const shares = top[group];
  return (
    <Card
      title={t("top")}
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
            detail: `${t("requests.count", { count: share.requests, shown: formatShortCount(share.requests) })} · ${formatShare(share.share)}`,
          }))}
        />
      )}
    </Card>
  );
}

function ShareLink({ group, share: { id, name } }: { group: Group; share: Share }) {
  const { t } = useTranslation("overview");
  if (id === "") return t("none");
  if (group === "keys")
    return (
      <TextLink to="/keys/$id" params={{ id }}>
        {name}
      </TextLink>
    );
  if (group === "organizations")
    return (
      <TextLink to="/" search={{ organization: id }}>
        {name}
      </TextLink>
    );
  const filter = group === "models" ? { model: id } : { channel: id };
  return (
    <TextLink to="/requests" search={filter}>
      {name}
    </TextLink>
  );
}
