import { ReceiptText } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useKeySearch, useModelOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { RangePicker } from "../../ui/filters/range-picker.tsx";
import { useRange } from "../../ui/filters/range.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable } from "../../ui/table/data-table.tsx";
import { ExportMenu } from "../../ui/table/export-menu.tsx";
import { EntryDialog } from "./entry-dialog.tsx";
import { useLedgerColumns } from "./ledger-columns.tsx";
import { Verification } from "./verification.tsx";

const DEFAULT_RANGE = "30d";

/** The page of the ledger. The address contains its filters and the open entry. */
export default function LedgerPage() {
  const { t } = useTranslation(["money", "shell"]);
  const can = useCan();
  const { filters, change } = useFilters();
  const filter = useLedgerFilter();
  const list = useList("ledger.list", filter);
  const isFiltered = ["request", "model", "key"].some((name) => filters[name] !== undefined);
  return (
    <Page
      title={t("shell:nav.money")}
      about={t("ledger.intro")}
      tabs={<AreaTabs area="money" />}
      actions={can("admin", "installation") && <Verification />}
    >
      <DataTable
        id="ledger"
        label={t("ledger.title")}
        columns={useLedgerColumns()}
        list={list}
        rowId={({ id, kind }) => `${id} ${kind}`}
        onOpen={({ id, corrects }) => change({ entry: corrects ?? id })}
        filters={<LedgerFilters />}
        actions={<ExportMenu of="ledger" filter={filter} />}
        empty={
          <EmptyState icon={ReceiptText}>
            {t(isFiltered ? "ledger.empty.filtered" : "ledger.empty")}
          </EmptyState>
        }
      />
      {filters["entry"] !== undefined && (
        <EntryDialog id={filters["entry"]} onClose={() => change({ entry: undefined }, { goesOn: true })} />
      )}
    </Page>
  );
}

/** Converts the filters in the address to the operation's input. */
function useLedgerFilter() {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const { from, to } = useRange(DEFAULT_RANGE);
  const { request, model, key } = filters;
  return {
    ...(id !== null && { organizationId: id }),
    ...(request !== undefined && { requestId: request }),
    ...(model !== undefined && { model }),
    ...(key !== undefined && { keyId: key }),
    // A search for a request ignores the time range.
    ...(request === undefined && { from, to }),
  };
}

function LedgerFilters() {
  const { t } = useTranslation("money");
  const { id } = useOrganization();
  return (
    <>
      <RangePicker usual={DEFAULT_RANGE} />
      <FilterInput name="request" label={t("ledger.filter.request")} />
      <FilterSelect name="model" label={t("ledger.filter.model")} options={useModelOptions()} />
      <FilterSelect name="key" label={t("ledger.filter.key")} {...useKeySearch(id ?? undefined)} />
    </>
  );
}
