import { useTranslation } from "react-i18next";
import { useKeyOptions, useOrganizationOptions } from "../../api/options.ts";
import type { TableColumn } from "../../ui/table/data-table.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Moment } from "../../ui/text/time.tsx";
import type { Entry } from "./views.ts";

export function useLedgerColumns(): TableColumn<Entry>[] {
  const { t } = useTranslation("money");
  const nameOf = useNames();
  return [
    {
      id: "at",
      header: t("column.at"),
      cell: ({ id, at, corrects }) => (
        <TextLink to="." search={(before: object) => ({ ...before, entry: corrects ?? id })}>
          <Moment at={at} />
        </TextLink>
      ),
    },
    { id: "kind", phone: "second", header: t("column.kind"), cell: ({ kind }) => <EntryKind kind={kind} /> },
    {
      id: "organization",
      header: t("column.organization"),
      cell: ({ organizationId }) => nameOf.organization(organizationId),
      isOptional: true,
    },
    {
      id: "key",
      phone: "second",
      header: t("column.key"),
      cell: ({ keyId }) => <span className="block max-w-48 truncate">{nameOf.key(keyId)}</span>,
    },
    { id: "model", phone: "second", header: t("column.model"), cell: ({ model }) => model },
    {
      id: "channel",
      header: t("column.channel"),
      cell: ({ channel }) => channel,
      isOptional: true,
    },
    {
      id: "usage",
      phone: "second",
      header: t("column.usage"),
      cell: ({ usage }) => <EntryUsage usage={usage} />,
      isNumber: true,
    },
    {
      id: "amount",
      phone: "first",
      header: t("column.amount"),
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
      isNumber: true,
    },
    {
      id: "price",
      header: t("column.price"),
      cell: (entry) => t(`source.${entry.priceSource}`),
      isOptional: true,
    },
    { id: "request", header: t("column.request"), cell: ({ requestId }) => <Id value={requestId} isShort /> },
  ];
}

export function EntryKind({ kind }: { kind: Entry["kind"] }) {
  const { t } = useTranslation("money");
  if (kind === "charge") return t("kind.charge");
  return <Status level={kind === "refund" ? "warn" : "unknown"}>{t(`kind.${kind}`)}</Status>;
}

/** Shows the number of pictures or tokens. */
export function EntryUsage({ usage }: { usage: Entry["usage"] }) {
  const { t } = useTranslation("money");
  if (usage === null) return <span className="text-muted">{t("usage.none")}</span>;
  if (usage.unit === "image") {
    const { count, tier, quality } = usage;
    return <span className="whitespace-nowrap">{t("usage.images", { count, tier, quality })}</span>;
  }
  const tokens = Object.values(usage.tokens).reduce((sum, count) => sum + count, 0);
  return (
    <span className="whitespace-nowrap">
      {t("usage.tokens.count", { count: tokens, number: formatCount(tokens) })}
    </span>
  );
}

/**
 * Returns functions that name organizations and keys. Without a known name, as for a deleted key, they return the id.
 */
export function useNames() {
  const organizations = useOrganizationOptions();
  const keys = useKeyOptions();
  return {
    organization: (id: string) => organizations.find((each) => each.id === id)?.label ?? id,
    key: (id: string) => keys.find((each) => each.id === id)?.label ?? id,
  };
}
