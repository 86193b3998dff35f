import { BellRing } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { formatShare } from "../../ui/text/format.ts";
import { Status } from "../../ui/text/status.tsx";
import { AlertActions } from "./alert-actions.tsx";
import { AlertDialog } from "./alert-dialog.tsx";
import { AlertEvents } from "./events.tsx";
import { MailTest } from "./mail-test.tsx";
import type { Alert } from "./views.ts";

export default function AlertsPage() {
  // A dialog needs the texts of money and must not wait for them.
  const { t } = useTranslation(["alerts", "shell", "money"]);
  const can = useCan();
  const { id } = useOrganization();
  const [isCreating, setCreating] = useState(false);
  const list = useList("alerts.list", id === null ? {} : { organizationId: id });
  const actions = (
    <>
      {can("admin", "installation") && <MailTest />}
      {can("admin") && (
        <Button kind="primary" onPress={() => setCreating(true)}>
          {t("create")}
        </Button>
      )}
    </>
  );
  return (
    <Page
      title={t("shell:nav.settings")}
      about={t("intro")}
      tabs={<AreaTabs area="settings" />}
      actions={actions}
    >
      <DataTable
        id="alerts"
        label={t("title")}
        columns={useColumns()}
        list={list}
        isShort
        rowId={({ id }) => id}
        filters={<h2 className="px-1 font-semibold">{t("title")}</h2>}
        empty={<EmptyState icon={BellRing}>{t("empty")}</EmptyState>}
      />
      <AlertEvents />
      {isCreating && <AlertDialog view={null} onClose={() => setCreating(false)} />}
    </Page>
  );
}

function useColumns(): TableColumn<Alert>[] {
  const { t } = useTranslation("alerts");
  const words = useAlertWords();
  const organizations = useOrganizationOptions();
  return [
    {
      id: "name",
      header: t("name"),
      cell: ({ name }) => <span className="block max-w-64 truncate font-medium">{name}</span>,
    },
    {
      id: "organization",
      header: t("organization"),
      cell: ({ organizationId }) =>
        organizations.find(({ id }) => id === organizationId)?.label ?? organizationId,
    },
    { id: "when", header: t("when"), cell: ({ settings }) => words.when(settings) },
    { id: "notified", header: t("notified"), cell: (view) => words.notified(view) },
    {
      id: "state",
      header: t("state"),
      cell: ({ isDisabled }) => (
        <Status level={isDisabled ? "off" : "good"}>{t(isDisabled ? "disabled" : "active")}</Status>
      ),
    },
    { id: "actions", header: "", isNumber: true, cell: (view) => <AlertActions view={view} /> },
  ];
}

/** Returns a rule in words. */
function useAlertWords() {
  const { t } = useTranslation("alerts");
  const share = (percent: number) => formatShare(percent / 100);
  return {
    when(settings: Alert["settings"]): string {
      if (settings.kind === "budget")
        return t("when.budget", { percents: settings.percents.map(share).join(", ") });
      if (settings.kind === "ejection") return t("when.ejection", { seconds: settings.seconds });
      return t("when.error_rate", { percent: share(settings.percent), minutes: settings.minutes });
    },
    notified({ emails, usesWebhooks }: Alert): string {
      const ways = [
        ...(emails.length > 0 ? [t("notified.mails", { count: emails.length })] : []),
        ...(usesWebhooks ? [t("notified.webhooks")] : []),
      ];
      return ways.length === 0 ? t("notified.nobody") : ways.join(", ");
    },
  };
}
