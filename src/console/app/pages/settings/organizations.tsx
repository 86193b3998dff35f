import { Building2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../components/area-tabs.tsx";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { FilterInput } from "../../components/filter-input.tsx";
import { Id } from "../../components/id.tsx";
import { Page } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { useList } from "../../lib/queries.ts";
import { useFilters } from "../../lib/search.ts";
import { useCan } from "../../lib/session.ts";
import { OrganizationActs } from "./organization-acts.tsx";
import { OrganizationDialog } from "./organization-dialog.tsx";
import type { Organization } from "./views.ts";

export default function OrganizationsPage() {
  const { t } = useTranslation(["settings", "shell"]);
  const can = useCan();
  const { filters } = useFilters();
  const [isCreating, setCreating] = useState(false);
  const search = filters["search"];
  const list = useList("organizations.list", search === undefined ? {} : { search });
  const create = can("admin", "installation") && (
    <Button kind="primary" onPress={() => setCreating(true)}>
      {t("organizations.create")}
    </Button>
  );
  return (
    <Page
      title={t("shell:nav.settings")}
      about={t("organizations.intro")}
      tabs={<AreaTabs area="settings" />}
      actions={create}
    >
      <DataTable
        id="organizations"
        label={t("organizations.title")}
        columns={useColumns()}
        list={list}
        rowId={({ id }) => id}
        filters={<FilterInput name="search" label={t("shell:search")} />}
        empty={<EmptyState icon={Building2}>{t("organizations.empty")}</EmptyState>}
      />
      <OrganizationDialog view={null} isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function useColumns(): Column<Organization>[] {
  const { t } = useTranslation("settings");
  const modelsOf = ({ models }: Organization) => {
    if (models === "*") return t("organization.models.all.short");
    return Array.isArray(models)
      ? t("organization.models.only.short", { count: models.length })
      : t("organization.models.except.short", { count: models.except.length });
  };
  return [
    {
      id: "name",
      header: t("organization.name"),
      cell: ({ name }) => <span className="block max-w-72 truncate font-medium">{name}</span>,
    },
    { id: "id", header: t("organization.id"), cell: ({ id }) => <Id value={id} /> },
    {
      id: "state",
      header: t("organization.state"),
      cell: ({ isDisabled }) => (
        <Status level={isDisabled ? "off" : "good"}>
          {t(isDisabled ? "organization.disabled" : "organization.active")}
        </Status>
      ),
    },
    { id: "currency", header: t("organization.currency"), cell: ({ currency }) => currency },
    { id: "models", header: t("organization.models"), cell: modelsOf },
    { id: "created", header: t("organization.created"), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "acts", header: "", isNumber: true, cell: (view) => <OrganizationActs view={view} /> },
  ];
}
