import { CircleCheck } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { AlertEventView } from "./views.ts";

/** The events of rules, the latest first. */
export function AlertEvents() {
  const { t } = useTranslation("alerts");
  const { filters } = useFilters();
  const { id } = useOrganization();
  const list = useList("alerts.events", {
    ...(id !== null && { organizationId: id }),
    ...(filters["state"] === "open" && { state: "open" as const }),
  });
  return (
    <DataTable
      id="alert-events"
      label={t("events.title")}
      columns={useColumns()}
      list={list}
      rowId={({ id }) => id}
      filters={
        <>
          <h2 className="px-1 font-semibold">{t("events.title")}</h2>
          <FilterSelect
            name="state"
            label={t("events.state")}
            options={[{ id: "open", label: t("events.open") }]}
          />
        </>
      }
      empty={<EmptyState icon={CircleCheck}>{t("events.empty")}</EmptyState>}
    />
  );
}

function useColumns(): TableColumn<AlertEventView>[] {
  const { t } = useTranslation("alerts");
  return [
    { id: "fired", header: t("event.fired"), cell: ({ firedAt }) => <Time at={firedAt} /> },
    {
      id: "state",
      header: t("state"),
      cell: ({ resolvedAt }) =>
        resolvedAt === null ? (
          <Status level="bad">{t("event.open")}</Status>
        ) : (
          <Status level="good">{t("event.resolved")}</Status>
        ),
    },
    { id: "rule", header: t("event.rule"), cell: ({ alertName }) => alertName },
    {
      id: "message",
      header: t("event.message"),
      cell: ({ message }) => <span className="break-words">{message}</span>,
    },
    {
      id: "resolvedAt",
      header: t("event.resolvedAt"),
      cell: ({ resolvedAt }) => resolvedAt !== null && <Time at={resolvedAt} />,
    },
  ];
}
