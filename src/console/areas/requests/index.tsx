import { useNavigate } from "@tanstack/react-router";
import { Search, Waypoints } from "lucide-react";
import { useState } from "react";
import { Input } from "react-aria-components/Input";
import { SearchField } from "react-aria-components/SearchField";
import { Text } from "react-aria-components/Text";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Input as OperationInput } from "../../api/call.ts";
import { useChannelOptions, useKeySearch, useModelOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { RangePicker } from "../../ui/filters/range-picker.tsx";
import { useSteadyRange } from "../../ui/filters/range.ts";
import { Button } from "../../ui/forms/button.tsx";
import { INPUT } from "../../ui/forms/field-class.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable } from "../../ui/table/data-table.tsx";
import { ExportMenu } from "../../ui/table/export-menu.tsx";
import { ButtonLink } from "../../ui/text/link.tsx";
import { useRequestColumns } from "./columns.tsx";
import { NewRequests } from "./new-requests.tsx";

/** The page of all recorded requests, newest first. The address contains the filters. */
export default function RequestsPage() {
  const { t } = useTranslation("requests");
  const navigate = useNavigate();
  const filter = useRequestFilter();
  const list = useList("requests.list", filter);
  const columns = useRequestColumns();
  return (
    <Page title={t("title")} about={t("about")} actions={<RangePicker usual="24h" />}>
      <FindRequest />
      <DataTable
        id="requests"
        label={t("title")}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: "/requests/$id", params: { id } })}
        filters={<Filters />}
        actions={
          <>
            <NewRequests filter={filter} shown={list.rows} />
            <ExportMenu of="requests" filter={filter} />
          </>
        }
        empty={<NoRequests />}
      />
    </Page>
  );
}

/** A field that opens a request by any of its ids. */
function FindRequest() {
  const { t } = useTranslation("requests");
  const navigate = useNavigate();
  const [id, setId] = useState("");
  const find = () => {
    if (id.trim() !== "") void navigate({ to: "/requests/$id", params: { id: id.trim() } });
  };
  return (
    <div className="flex max-w-2xl flex-wrap items-start gap-2">
      <SearchField
        aria-label={t("find")}
        value={id}
        onChange={setId}
        onSubmit={find}
        className="flex min-w-60 flex-1 flex-col gap-1.5"
      >
        <Input className={`${INPUT} font-mono [&::-webkit-search-cancel-button]:hidden`} />
        <Text slot="description" className="text-xs text-muted">
          {t("find.help")}
        </Text>
      </SearchField>
      <Button icon={Search} onPress={find}>
        {t("find.action")}
      </Button>
    </div>
  );
}

function Filters() {
  const { t } = useTranslation("requests");
  const { id: organizationId } = useOrganization();
  const keys = useKeySearch(organizationId ?? undefined);
  const models = useModelOptions();
  const channels = useChannelOptions();
  const classes = [
    { id: "failed", label: t("filter.failed") },
    { id: "2xx", label: t("filter.ok") },
    { id: "4xx", label: t("filter.caller") },
    { id: "5xx", label: t("filter.server") },
  ];
  return (
    <>
      <FilterSelect name="status" label={t("filter.status")} options={classes} />
      <FilterSelect name="model" label={t("filter.model")} options={models} />
      <FilterSelect name="keyId" label={t("filter.key")} {...keys} />
      <FilterSelect name="channel" label={t("filter.channel")} options={channels} />
      <FilterInput name="code" label={t("filter.code")} />
    </>
  );
}

function NoRequests() {
  const { t } = useTranslation("requests");
  const { filters, change } = useFilters();
  if (!FILTERS.some((name) => filters[name] !== undefined))
    return (
      <EmptyState icon={Waypoints} action={<ButtonLink to="/playground">{t("empty.action")}</ButtonLink>}>
        {t("empty")}
      </EmptyState>
    );
  const clear = () => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  return (
    <EmptyState icon={Waypoints} action={<Button onPress={clear}>{t("filter.clear")}</Button>}>
      {t("empty.filtered")}
    </EmptyState>
  );
}

/** The filters of the list, without organization and range, by their names in the address. */
const FILTERS = ["status", "model", "keyId", "channel", "code"] as const;

const CLASSES = ["2xx", "4xx", "5xx"] as const;

/** Converts the filters in the address to the operation's input. */
function useRequestFilter(): OperationInput<"requests.list"> {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const { status, model, keyId, channel, code } = filters;
  const statusClass = CLASSES.find((each) => each === status);
  return {
    ...(id !== null && { organizationId: id }),
    ...(statusClass && { statusClass }),
    ...(status === "failed" && { outcome: "failed" as const }),
    ...(model && { model }),
    ...(keyId && { keyId }),
    ...(channel && { channel }),
    ...(code && { code }),
    ...useSteadyRange("24h"),
  };
}
