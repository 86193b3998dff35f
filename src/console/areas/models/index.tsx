import { useNavigate } from "@tanstack/react-router";
import { Boxes, Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Input } from "../../api/call.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable } from "../../ui/table/data-table.tsx";
import { ButtonLink } from "../../ui/text/link.tsx";
import { AddModel } from "./add-model.tsx";
import { useModelColumns } from "./columns.tsx";
import { useEnabledModels } from "./model-state.tsx";

const TYPES = ["chat", "messages", "embedding", "image"] as const;
const FILTERS = ["search", "type", "state"] as const;

/** The page of all known models with their states and targets. */
export default function ModelsPage() {
  const { t } = useTranslation("models");
  const { t: shell } = useTranslation();
  const navigate = useNavigate();
  const canAdd = useCan()("admin", "installation");
  const [isAdding, setAdding] = useState(false);
  const list = useList("models.list", useModelFilter());
  const columns = useModelColumns(useEnabledModels());
  return (
    <Page
      title={shell("nav.models")}
      about={t("about")}
      tabs={<AreaTabs area="models" />}
      actions={
        canAdd && (
          <Button kind="primary" icon={Plus} onPress={() => setAdding(true)}>
            {t("add")}
          </Button>
        )
      }
    >
      <DataTable
        id="models"
        label={t("tab.models")}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: "/models/detail", search: { model: id } })}
        filters={<Filters />}
        empty={<NoModels />}
      />
      {isAdding && <AddModel onClose={() => setAdding(false)} />}
    </Page>
  );
}

function useModelFilter(): Input<"models.list"> {
  const { search, type, state } = useFilters().filters;
  const { id: organizationId } = useOrganization();
  const known = TYPES.find((each) => each === type);
  return {
    ...(organizationId !== null && { organizationId }),
    ...(search && { search }),
    ...(known && { type: known }),
    ...(state === "callable" && { isRoutable: "true" as const }),
    ...(state === "not" && { isRoutable: "false" as const }),
  };
}

function Filters() {
  const { t } = useTranslation("models");
  const types = TYPES.map((id) => ({ id, label: t(`type.${id}`) }));
  const states = [
    { id: "callable", label: t("filter.callable") },
    { id: "not", label: t("filter.not") },
  ];
  return (
    <>
      <FilterInput name="search" label={t("search")} />
      <FilterSelect name="type" label={t("filter.type")} options={types} />
      <FilterSelect name="state" label={t("filter.state")} options={states} />
    </>
  );
}

function NoModels() {
  const { t } = useTranslation("models");
  const { filters } = useFilters();
  if (FILTERS.some((name) => filters[name] !== undefined))
    return <EmptyState icon={Boxes}>{t("empty.filtered")}</EmptyState>;
  return (
    <EmptyState icon={Boxes} action={<ButtonLink to="/models/providers/add">{t("empty.action")}</ButtonLink>}>
      {t("empty")}
    </EmptyState>
  );
}
