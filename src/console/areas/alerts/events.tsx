import { CircleCheck } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { operatorText } from "../../texts/operator-text.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Moment } from "../../ui/text/time.tsx";
import type { AlertEventView } from "./views.ts";

/** Lists the events of alert rules, the latest first. */
export function AlertEvents() {
  const { t } = useTranslation("alerts");
  const { filters } = useFilters();
  const { chosen: id } = useOrganization();
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
    { id: "fired", header: t("event.fired"), cell: ({ firedAt }) => <Moment at={firedAt} /> },
    {
      id: "state",
      phone: "first",
      header: t("state"),
      cell: (event) => <EventState event={event} />,
    },
    { id: "rule", phone: "second", header: t("event.rule"), cell: ({ alertName }) => alertName },
    {
      id: "message",
      phone: "second",
      header: t("event.message"),
      cell: (event) => <span className="inline-block lg:min-w-72">{operatorText(event)}</span>,
    },
    {
      id: "notices",
      phone: "second",
      header: t("event.notices"),
      cell: ({ notices }) => <Notices notices={notices} />,
    },
    {
      id: "resolvedAt",
      header: t("event.resolvedAt"),
      cell: ({ resolvedAt }) => resolvedAt !== null && <Moment at={resolvedAt} />,
    },
  ];
}

/**
 * Shows the state of an event. An event that ended with its rule is not shown as good, because the condition may last.
 */
function EventState({ event: { resolvedAt, endReason, severity } }: { event: AlertEventView }) {
  const { t } = useTranslation("alerts");
  if (resolvedAt === null)
    return <Status level={severity === "critical" ? "bad" : "warn"}>{t("event.open")}</Status>;
  if (endReason !== null) return <Status level="off">{t(`event.${endReason}`)}</Status>;
  return <Status level="good">{t("event.resolved")}</Status>;
}

const OUTCOMES = { waiting: "busy", delivered: "good", failed: "bad" } as const;

/** Shows how each message about an event was delivered. */
function Notices({ notices }: { notices: AlertEventView["notices"] }) {
  const { t } = useTranslation("alerts");
  if (notices.length === 0) return <span className="text-muted">{t("notified.nobody")}</span>;
  return (
    <ul className="flex flex-col gap-1">
      {notices.map(({ way, to, status, attempts, result, resultCode, resultFigures }, index) => (
        <li key={`${way} ${to} ${index}`} className="flex flex-wrap items-center gap-2">
          <Status level={status === "waiting" && result !== null ? "warn" : OUTCOMES[status]}>
            {t(`notice.${status}`, { count: attempts })}
          </Status>
          <span className="break-all">{to}</span>
          {status !== "delivered" && result !== null && (
            <span className="text-muted">
              {operatorText({ message: result, code: resultCode, figures: resultFigures })}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
