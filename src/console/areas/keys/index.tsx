import { useNavigate } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Output } from "../../api/call.ts";
import { useCurrency, useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { BudgetBar } from "../../ui/chart/budget-bar.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { ExportMenu } from "../../ui/table/export-menu.tsx";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { SpentOf } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import { KeyState, useKeyWords } from "./key-view.tsx";

type ListedKey = Output<"keys.list">["data"][number];
type State = "active" | "disabled" | "expired";
const STATES: readonly State[] = ["active", "disabled", "expired"];

export default function KeysPage() {
  const { t } = useTranslation("keys");
  const navigate = useNavigate();
  const can = useCan();
  const { filters } = useFilters();
  const filter = useKeyFilter();
  const list = useList("keys.list", filter);
  const create = can("admin") && (
    <ButtonLink to="/keys/new" kind="primary">
      {t("create")}
    </ButtonLink>
  );
  const isFiltered = filters["search"] !== undefined || filters["state"] !== undefined;
  return (
    <Page title={t("title")} about={t("intro")} actions={create}>
      <DataTable
        id="keys"
        label={t("title")}
        columns={useColumns()}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: "/keys/$id", params: { id } })}
        filters={
          <>
            <FilterInput name="search" label={t("search")} />
            <FilterSelect
              name="state"
              label={t("state.label")}
              options={STATES.map((id) => ({ id, label: t(`state.${id}`) }))}
            />
          </>
        }
        actions={<ExportMenu of="keys" filter={filter} />}
        empty={
          <EmptyState icon={KeyRound} action={isFiltered ? undefined : create}>
            {t(isFiltered ? "empty.filtered" : "empty")}
          </EmptyState>
        }
      />
    </Page>
  );
}

/** Converts the filters in the address to the operation's input. */
function useKeyFilter() {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const state = STATES.find((each) => each === filters["state"]);
  return {
    ...(id !== null && { organizationId: id }),
    ...(filters["search"] !== undefined && { search: filters["search"] }),
    ...(state !== undefined && { state }),
  };
}

function useColumns(): TableColumn<ListedKey>[] {
  const { t } = useTranslation("keys");
  const words = useKeyWords();
  const organizations = useOrganizationOptions();
  const nameOf = (id: string) => organizations.find((each) => each.id === id)?.label ?? id;
  return [
    {
      id: "name",
      header: t("column.name"),
      cell: ({ id, name }) => (
        <TextLink to="/keys/$id" params={{ id }}>
          <span className="block max-w-44 truncate 3xl:max-w-80">{name}</span>
        </TextLink>
      ),
    },
    { id: "prefix", header: t("column.prefix"), cell: ({ prefix }) => <Prefix>{prefix}</Prefix> },
    { id: "state", phone: "first", header: t("column.state"), cell: (view) => <KeyState view={view} /> },
    {
      id: "organization",
      phone: "second",
      header: t("column.organization"),
      cell: (view) => (
        <span className="block max-w-34 truncate 3xl:max-w-64">{nameOf(view.organizationId)}</span>
      ),
    },
    { id: "scopes", header: t("column.scopes"), cell: (view) => words.scopes(view.scopes), isOptional: true },
    {
      id: "models",
      header: t("column.models"),
      cell: ({ models }) => <span className="whitespace-nowrap">{words.models(models)}</span>,
    },
    { id: "budget", phone: "second", header: t("column.budget"), cell: (view) => <BudgetCell view={view} /> },
    {
      id: "lastUsed",
      header: t("column.lastUsed"),
      cell: ({ lastUsedAt }) => <TimeOrNever at={lastUsedAt} />,
      isOptional: true,
    },
    {
      id: "lastSeen",
      phone: "named",
      header: t("column.lastSeen"),
      cell: ({ lastSeenAt }) => <TimeOrNever at={lastSeenAt} />,
    },
    {
      id: "expires",
      header: t("column.expires"),
      cell: ({ expiresAt }) => <TimeOrNever at={expiresAt} />,
    },
    {
      id: "created",
      header: t("column.created"),
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}

function Prefix({ children }: { children: string }) {
  return <code className="font-mono text-xs text-muted">{children}…</code>;
}

function TimeOrNever({ at }: { at: string | null }) {
  const { t } = useTranslation("keys");
  return at === null ? <span className="text-muted">{t("never")}</span> : <Time at={at} />;
}

/**
 * Shows the key's budget with the largest spent share in a table's cell; nothing without a budget, or while the
 * currency is unknown.
 */
function BudgetCell({ view }: { view: Output<"keys.list">["data"][number] }) {
  const currency = useCurrency(view.organizationId);
  const budget = view.budgets.toSorted((one, other) => shareOf(other) - shareOf(one))[0];
  if (!budget || currency === undefined) return null;
  return (
    <span className="flex w-36 flex-col gap-1">
      <span className="text-xs">
        <SpentOf {...budget} currency={currency} />
      </span>
      <BudgetBar budget={{ ...budget, held: "0", currency }} />
    </span>
  );
}

function shareOf({ spent, amount }: { spent: string; amount: string }): number {
  return Number(amount) > 0 ? Number(spent) / Number(amount) : 1;
}
