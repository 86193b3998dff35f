import { Settings2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { call, type Output } from "../../api/call.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterInput } from "../../ui/filters/filter-input.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { showProblem } from "../../ui/overlay/toast.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { downloadText } from "../../ui/text/download.ts";
import { ImportDialog } from "./import-dialog.tsx";

type Setting = Output<"settings.list">["data"][number];

const ORIGINS = ["environment", "file", "database", "default"] as const;

/** The page of the configuration: all settings with their sources, and buttons for export and import. */
export default function ConfigurationPage() {
  const { t } = useTranslation(["settings", "shell"]);
  const { filters } = useFilters();
  const list = useList("settings.list", {});
  const wanted = (filters["search"] ?? "").toLowerCase();
  const origin = filters["origin"];
  const rows = list.rows
    ?.filter(({ path, from }) => `${path} ${from ?? ""}`.toLowerCase().includes(wanted))
    .filter((setting) => origin === undefined || setting.origin === origin);
  return (
    <Page
      title={t("shell:nav.settings")}
      about={t("configuration.intro")}
      tabs={<AreaTabs area="settings" />}
      actions={<ConfigurationActions />}
    >
      <DataTable
        id="settings"
        label={t("configuration.title")}
        columns={useColumns()}
        list={{ ...list, rows }}
        rowId={({ path }) => path}
        filters={
          <>
            <FilterInput name="search" label={t("configuration.search")} />
            <FilterSelect
              name="origin"
              label={t("configuration.origin")}
              options={ORIGINS.map((id) => ({ id, label: t(`origin.${id}`) }))}
            />
          </>
        }
        empty={<EmptyState icon={Settings2}>{t("configuration.empty.filtered")}</EmptyState>}
      />
    </Page>
  );
}

function ConfigurationActions() {
  const { t } = useTranslation("settings");
  const can = useCan();
  const [isImporting, setImporting] = useState(false);
  const exportAll = async () => {
    try {
      const { yaml } = await call("configuration.export", {});
      downloadText("gateway.yaml", "application/yaml", yaml);
    } catch (error) {
      showProblem(error);
    }
  };
  return (
    <>
      <Button onPress={() => void exportAll()}>{t("configuration.export")}</Button>
      {can("owner", "installation") && (
        <Button onPress={() => setImporting(true)}>{t("configuration.import")}</Button>
      )}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </>
  );
}

function useColumns(): TableColumn<Setting>[] {
  const { t } = useTranslation("settings");
  return [
    {
      id: "path",
      header: t("configuration.path"),
      cell: ({ path }) => <code className="font-mono text-xs">{path}</code>,
    },
    {
      id: "value",
      phone: "second",
      header: t("configuration.value"),
      cell: ({ value }) => (
        <code className="block max-w-96 truncate font-mono text-xs" title={value}>
          {value}
        </code>
      ),
    },
    {
      id: "origin",
      phone: "first",
      header: t("configuration.origin"),
      cell: ({ origin, from }) => (
        <span className="flex flex-col">
          <span className={origin === "default" ? "text-muted" : ""}>{t(`origin.${origin}`)}</span>
          {from !== null && <code className="font-mono text-xs text-muted">{from}</code>}
        </span>
      ),
    },
    {
      id: "reload",
      header: t("configuration.reload"),
      cell: ({ isReloadable }) =>
        isReloadable ? t("configuration.reload.yes") : t("configuration.reload.no"),
    },
  ];
}
