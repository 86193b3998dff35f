import { Send } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationMutation, useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { IconButton } from "../../ui/forms/button.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Moment, Time } from "../../ui/text/time.tsx";
import { resultOf, type Delivery } from "./delivery-result.ts";

const STATES = ["waiting", "delivered", "failed"] as const;
const LEVELS = { waiting: "busy", delivered: "good", failed: "bad" } as const;

/** Lists the messages to endpoints and their state. */
export function WebhookDeliveries() {
  const { t } = useTranslation("settings");
  const { filters } = useFilters();
  const { id } = useOrganization();
  const status = STATES.find((each) => each === filters["status"]);
  const list = useList("deliveries.list", {
    ...(id !== null && { organizationId: id }),
    ...(status !== undefined && { status }),
  });
  return (
    <DataTable
      id="deliveries"
      label={t("deliveries.title")}
      columns={useColumns()}
      list={list}
      rowId={({ id }) => id}
      filters={
        <>
          <h2 className="px-1 font-semibold">{t("deliveries.title")}</h2>
          <FilterSelect
            name="status"
            label={t("delivery.state")}
            options={STATES.map((id) => ({ id, label: t(`delivery.${id}`) }))}
          />
        </>
      }
      empty={<EmptyState icon={Send}>{t("deliveries.empty")}</EmptyState>}
    />
  );
}

function useColumns(): TableColumn<Delivery>[] {
  const { t } = useTranslation(["settings", "shell"]);
  return [
    { id: "created", header: t("delivery.created"), cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      id: "state",
      phone: "first",
      header: t("delivery.state"),
      cell: ({ status }) => <Status level={LEVELS[status]}>{t(`delivery.${status}`)}</Status>,
    },
    { id: "event", phone: "second", header: t("delivery.event"), cell: ({ event }) => event },
    {
      id: "job",
      phone: "second",
      header: t("delivery.job"),
      cell: ({ jobId }) =>
        jobId !== "" && (
          <TextLink to="/jobs/$id" params={{ id: jobId }}>
            <span className="font-mono text-xs">{jobId}</span>
          </TextLink>
        ),
    },
    {
      id: "url",
      header: t("delivery.url"),
      cell: ({ url }) => (
        <span className="block max-w-64 truncate font-mono text-xs" title={url}>
          {url}
        </span>
      ),
    },
    { id: "attempts", header: t("delivery.attempts"), cell: ({ attempts }) => attempts, isNumber: true },
    {
      id: "result",
      phone: "second",
      header: t("delivery.result"),
      cell: (delivery) => (
        <span className="block max-w-64 truncate" title={resultOf(delivery)}>
          {resultOf(delivery)}
        </span>
      ),
    },
    {
      id: "next",
      header: t("delivery.next"),
      cell: ({ nextAt }) => nextAt !== null && <Time at={nextAt} />,
    },
    {
      id: "actions",
      header: t("shell:rowActions"),
      isAction: true,
      cell: (view) => <Redeliver view={view} />,
    },
  ];
}

function Redeliver({ view }: { view: Delivery }) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const redeliver = useOperationMutation("deliveries.redeliver", ["deliveries"]);
  if (!can("admin")) return null;
  return (
    <IconButton
      icon={Send}
      label={t("delivery.redeliver")}
      isPending={redeliver.isPending}
      onPress={() =>
        redeliver.mutate(
          { id: view.id },
          { onSuccess: () => showToast(t("delivery.redelivered")), onError: showProblem },
        )
      }
    />
  );
}
