import { Building2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { Id } from "../../ui/text/id.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { OrganizationActions } from "./organization-actions.tsx";
import { OrganizationDialog, type OrganizationView } from "./organization-dialog.tsx";

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

function useColumns(): TableColumn<OrganizationView>[] {
  const { t } = useTranslation(["settings", "shell"]);
  const modelsOf = ({ models }: OrganizationView) => {
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
      phone: "first",
      header: t("organization.state"),
      cell: ({ isDisabled }) => (
        <Status level={isDisabled ? "off" : "good"}>
          {t(isDisabled ? "organization.disabled" : "organization.active")}
        </Status>
      ),
    },
    { id: "currency", phone: "second", header: t("organization.currency"), cell: ({ currency }) => currency },
    { id: "models", phone: "named", header: t("organization.models"), cell: modelsOf },
    { id: "created", header: t("organization.created"), cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: "actions",
      header: t("shell:rowActions"),
      isAction: true,
      cell: (view) => <OrganizationActions view={view} />,
    },
  ];
}
