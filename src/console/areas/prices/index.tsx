import { Tag } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Output } from "../../api/call.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { latestOf, type ModelPrices } from "./cells.ts";
import { ModelPricePage } from "./model-price-page.tsx";

type PriceTable = Output<"prices.table">;

/** The page of the prices of all models. If the address contains a model, shows that model's prices and rows. */
export default function PricesPage() {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const table = useOperationQuery("prices.table", id === null ? {} : { organizationId: id });
  const model = filters["model"];
  if (model !== undefined) return <ModelPricePage key={model} model={model} table={table} />;
  return <PriceTablePage table={table} />;
}

function PriceTablePage({ table }: { table: ReturnType<typeof useOperationQuery<"prices.table">> }) {
  const { t } = useTranslation(["prices", "shell"]);
  const { filters, change } = useFilters();
  const rows = table.data && filtered(table.data, filters["search"], filters["show"]);
  const isFiltered = filters["search"] !== undefined || filters["show"] !== undefined;
  return (
    <Page title={t("shell:nav.models")} about={t("intro")} tabs={<AreaTabs area="models" />}>
      <DataTable
        id="prices"
        label={t("title")}
        columns={useColumns(table.data?.currency ?? "")}
        list={{
          rows,
          error: table.error,
          failedAt: table.errorUpdatedAt,
          hasMore: false,
          isReadingMore: false,
          readMore: () => undefined,
          retry: () => void table.refetch(),
        }}
        rowId={({ model }) => model}
        onOpen={({ model }) => change({ model })}
        filters={
          <>
            <FilterInput name="search" label={t("search")} />
            <FilterSelect
              name="show"
              label={t("filter")}
              options={[
                { id: "own", label: t("filter.own") },
                { id: "unpriced", label: t("filter.unpriced") },
              ]}
            />
          </>
        }
        empty={<EmptyState icon={Tag}>{t(isFiltered ? "empty.filtered" : "empty")}</EmptyState>}
      />
    </Page>
  );
}

function filtered({ data }: PriceTable, search = "", kind: string | undefined): ModelPrices[] {
  const wanted = search.toLowerCase();
  return data
    .filter(({ model }) => model.toLowerCase().includes(wanted))
    .filter(({ cells }) => kind !== "unpriced" || cells.length === 0)
    .filter(({ cells }) => kind !== "own" || cells.some(({ source }) => source !== "configuration"));
}

function useColumns(currency: string): TableColumn<ModelPrices>[] {
  const { t } = useTranslation("prices");
  return [
    {
      id: "model",
      header: t("column.model"),
      cell: ({ model }) => (
        <TextLink to="." search={(before: object) => ({ ...before, model })}>
          {model}
        </TextLink>
      ),
    },
    {
      id: "price",
      phone: "first",
      header: t("column.price"),
      cell: (row) => <PriceSummary row={row} currency={currency} />,
    },
    {
      id: "source",
      phone: "second",
      header: t("column.source"),
      cell: ({ cells, origin }) => {
        const sources = new Set(cells.map(({ source }) => (source === "configuration" ? origin : source)));
        return [...sources].map((source) => t(`source.${source}`)).join(", ");
      },
    },
    {
      id: "since",
      phone: "named",
      header: t("column.since"),
      cell: (row) => {
        if (row.cells.length === 0) return null;
        const since = latestOf(row);
        return since === null ? <span className="text-muted">{t("row.always")}</span> : <Time at={since} />;
      },
    },
    {
      id: "state",
      header: t("column.state"),
      cell: ({ isRetired, isEnabled }) => {
        if (isRetired) return <Status level="off">{t("state.retired")}</Status>;
        return isEnabled ? null : <Status level="off">{t("state.disabled")}</Status>;
      },
      isOptional: true,
    },
  ];
}

/** Shows the price of a model in one line: the range of image prices, or the prices of input and output. */
function PriceSummary({ row, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  if (row.cells.length === 0) return <Status level="warn">{t("unpriced")}</Status>;
  return row.type === "image" ? (
    <ImageSummary row={row} currency={currency} />
  ) : (
    <TokenSummary row={row} currency={currency} />
  );
}

function ImageSummary({ row: { cells }, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const amounts = cells.map(({ amount }) => amount).toSorted((one, other) => Number(one) - Number(other));
  const [least = "0"] = amounts;
  const most = amounts.at(-1) ?? least;
  return (
    <span className="whitespace-nowrap">
      <Money amount={least} currency={currency} />
      {least !== most && (
        <>
          {" – "}
          <Money amount={most} currency={currency} />
        </>
      )}
      <span className="text-muted"> {t("perImage")}</span>
    </span>
  );
}

function TokenSummary({ row: { cells }, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const shown = cells.filter(({ cell }) => cell === "input" || cell === "output");
  return (
    <span className="whitespace-nowrap">
      {shown.map(({ cell, amount }, index) => (
        <span key={cell}>
          {index > 0 && <span className="text-muted"> / </span>}
          <Money amount={amount} currency={currency} />
        </span>
      ))}
      <span className="text-muted"> {t("perMillion")}</span>
    </span>
  );
}
