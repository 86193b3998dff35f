import { useTranslation } from "react-i18next";
import type { Input, Output } from "../../api/call.ts";
import { useRangeSearch } from "../../ui/filters/range.ts";
import type { TableColumn } from "../../ui/table/data-table.tsx";
import {
  formatChange,
  formatCount,
  formatMoney,
  formatShare,
  formatShortCount,
} from "../../ui/text/format.ts";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";

type Usage = Output<"usage.list">;
type Group = Usage["groups"][number];
type GroupBy = NonNullable<Input<"usage.list">["groupBy"]>;

/** For each grouping, the name of the filter in the list of requests. That list has no filter by member or program. */
const FILTERS: Record<GroupBy, string | null> = {
  model: "model",
  key: "keyId",
  organization: "organization",
  channel: "channel",
  member: null,
  client: null,
};

/**
 * Returns the columns of the usage by group. Numbers of requests and of failed requests link to these requests in the
 * same range, if the list of requests has the filter.
 */
export function useUsageColumns(by: GroupBy, usage: Usage | undefined): readonly TableColumn<Group>[] {
  const { t } = useTranslation("money");
  const range = useRangeSearch("7d");
  const currency = usage?.currency ?? "USD";
  const filter = FILTERS[by];
  const search = (id: string) => ({ ...range, ...(filter !== null && id !== "" && { [filter]: id }) });
  return [
    { id: "name", header: t(`usage.by.${by}`), cell: ({ name }) => (name === "" ? t(noneOf(by)) : name) },
    {
      id: "amount",
      phone: "first",
      header: t("usage.amount"),
      isNumber: true,
      cell: ({ amount }) => <Money amount={amount} currency={currency} />,
    },
    {
      id: "share",
      phone: "second",
      header: t("usage.share"),
      isNumber: true,
      cell: ({ share }) => formatShare(share),
    },
    {
      id: "change",
      phone: "second",
      header: t("usage.change"),
      isNumber: true,
      cell: (group) => <Change group={group} currency={currency} />,
    },
    {
      id: "requests",
      phone: "named",
      header: t("usage.requests"),
      isNumber: true,
      cell: ({ id, requests }) => <Requests count={requests} search={filter === null ? null : search(id)} />,
    },
    {
      id: "errors",
      phone: "named",
      header: t("usage.errors"),
      isNumber: true,
      cell: ({ id, errors }) => <Errors count={errors} search={search(id)} />,
    },
    {
      id: "tokens",
      header: t("usage.tokens"),
      isNumber: true,
      cell: ({ tokens }) => <span title={formatCount(tokens)}>{formatShortCount(tokens)}</span>,
    },
    { id: "images", header: t("usage.images"), isNumber: true, cell: ({ images }) => formatCount(images) },
    {
      id: "margin",
      header: t("usage.margin"),
      isNumber: true,
      isOptional: true,
      cell: ({ margin }) => <Money amount={margin} currency={currency} />,
    },
  ];
}

/** Shows the number of requests, as a link to these requests if their list has a filter for the group. */
function Requests({ count, search }: { count: number; search: object | null }) {
  if (search === null) return formatCount(count);
  return (
    <TextLink to="/requests" search={{ ...search }}>
      {formatCount(count)}
    </TextLink>
  );
}

/** Shows the number of failed requests, as a link to these requests if there are any; a dash if unknown. */
function Errors({ count, search }: { count: number | null; search: object }) {
  if (count === null || count === 0) return <span className="text-muted">{count ?? "–"}</span>;
  return (
    <TextLink to="/requests" search={{ ...search, status: "failed" }}>
      {formatCount(count)}
    </TextLink>
  );
}

/** Returns the name of the text for requests without a group, such as requests without a model on unknown paths. */
export function noneOf(by: GroupBy) {
  return `usage.none.${by}` as const;
}

/** Shows the change of the spend from the previous range of the same length. */
function Change({ group: { amount, previousAmount }, currency }: { group: Group; currency: string }) {
  const { t } = useTranslation("money");
  const [now, before] = [Number(amount), Number(previousAmount)];
  if (before === 0) return <span className="text-muted">{now === 0 ? "–" : t("usage.new")}</span>;
  return (
    <span title={t("usage.before", { amount: formatMoney(previousAmount, currency) })}>
      {formatChange(now, before)}
    </span>
  );
}
