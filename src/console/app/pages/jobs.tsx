import { useNavigate } from "@tanstack/react-router";
import { Ban, Layers } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../components/button.tsx";
import { DataTable } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FilterSelect } from "../components/filter-select.tsx";
import { Page } from "../components/page.tsx";
import { RangePicker } from "../components/range-picker.tsx";
import type { Input } from "../lib/api.ts";
import { useLive } from "../lib/events.ts";
import { useKeyOptions, useModelOptions } from "../lib/options.ts";
import { useOrganization } from "../lib/organization.ts";
import { useList } from "../lib/queries.ts";
import { useSteadyRange } from "../lib/range.ts";
import { useFilters } from "../lib/search.ts";
import { useCan } from "../lib/session.ts";
import { CancelJobs } from "./jobs/cancel-jobs.tsx";
import { useJobColumns } from "./jobs/columns.tsx";
import { isLive, STATES, type JobState } from "./jobs/states.ts";

const FILTERS = ["status", "model", "keyId"] as const;

/** Jobs, newest first and live; those that still run or wait can be cancelled together. */
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
    ...(status && status in STATES && { status }),
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
  const states = (Object.keys(STATES) as JobState[]).map((id) => ({ id, label: t(`status.${id}`) }));
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
