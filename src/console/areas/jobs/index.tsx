import { useNavigate } from "@tanstack/react-router";
import { Ban, Layers } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Input } from "../../api/call.ts";
import { useLive } from "../../api/events.ts";
import { useKeyOptions, useModelOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { RangePicker } from "../../ui/filters/range-picker.tsx";
import { useSteadyRange } from "../../ui/filters/range.ts";
import { Button } from "../../ui/forms/button.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable } from "../../ui/table/data-table.tsx";
import { CancelJobs } from "./cancel-jobs.tsx";
import { useJobColumns } from "./columns.tsx";
import { isLive, STATUSES } from "./states.ts";

const FILTERS = ["status", "model", "keyId"] as const;

/** The page of jobs, newest first and updated live. Jobs that wait or run can be cancelled together. */
export default function JobsPage() {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const canCancel = useCan()("admin");
  const list = useList("jobs.list", useJobFilter());
  useLive("jobs");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isAsking, setAsking] = useState(false);
  const jobs = (list.rows ?? []).filter((job) => chosen.has(job.id) && isLive(job));
  const columns = useJobColumns(canCancel ? { chosen, onChoose: setChosen } : null);
  return (
    <Page title={t("title")} about={t("about")} actions={<RangePicker usual="24h" />}>
      <DataTable
        id="jobs"
        label={t("title")}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: "/jobs/$id", params: { id } })}
        filters={<Filters />}
        actions={
          jobs.length > 0 && (
            <Button icon={Ban} onPress={() => setAsking(true)}>
              {t("cancel.some", { count: jobs.length })}
            </Button>
          )
        }
        empty={<NoJobs />}
      />
      <CancelJobs
        jobs={jobs}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onDone={() => setChosen(new Set())}
      />
    </Page>
  );
}

function useJobFilter(): Input<"jobs.list"> {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const { status, model, keyId } = filters;
  return {
    ...(id !== null && { organizationId: id }),
    ...(STATUSES.some((known) => known === status) && { status }),
    ...(model && { model }),
    ...(keyId && { keyId }),
    ...useSteadyRange("24h"),
  };
}

function Filters() {
  const { t } = useTranslation("jobs");
  const { id: organizationId } = useOrganization();
  const keys = useKeyOptions(organizationId ?? undefined);
  const models = useModelOptions().filter(({ detail }) => detail === "image");
  const states = STATUSES.map((id) => ({ id, label: t(`status.${id}`) }));
  return (
    <>
      <FilterSelect name="status" label={t("filter.status")} options={states} />
      <FilterSelect name="model" label={t("filter.model")} options={models} />
      <FilterSelect name="keyId" label={t("filter.key")} options={keys} />
    </>
  );
}

function NoJobs() {
  const { t } = useTranslation("jobs");
  const { filters, change } = useFilters();
  const clear = () => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  return FILTERS.some((name) => filters[name] !== undefined) ? (
    <EmptyState icon={Layers} action={<Button onPress={clear}>{t("filter.clear")}</Button>}>
      {t("empty.filtered")}
    </EmptyState>
  ) : (
    <EmptyState icon={Layers}>
      {t("empty")}. {t("empty.help")}
    </EmptyState>
  );
}
