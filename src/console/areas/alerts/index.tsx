import { BellRing } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList, useOperationMutation } from "../../api/queries.ts";
import { useCan, useSession } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { After } from "../../ui/page/after.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { formatShare } from "../../ui/text/format.ts";
import { Status } from "../../ui/text/status.tsx";
import { AlertActions } from "./alert-actions.tsx";
import { AlertDialog } from "./alert-dialog.tsx";
import { AlertEvents } from "./events.tsx";
import { MailTest } from "./mail-test.tsx";
import { NoMail, useHasMail } from "./no-mail.tsx";
import type { Alert } from "./views.ts";

export default function AlertsPage() {
  // The `money` texts are loaded with the page, because a dialog of the page needs them at once.
  const { t } = useTranslation(["alerts", "shell", "money"]);
  const can = useCan();
  const { chosen: id } = useOrganization();
  const [isCreating, setCreating] = useState(false);
  const hasMail = useHasMail();
  const list = useList("alerts.list", id === null ? {} : { organizationId: id });
  const actions = (
    <>
      {can("admin", "installation") && hasMail === true && <MailTest />}
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
        rowId={({ id }) => id}
        filters={<h2 className="px-1 font-semibold">{t("title")}</h2>}
        empty={
          <EmptyState
            icon={BellRing}
            action={can("admin", "installation") && <Suggested hasMail={hasMail === true} />}
          >
            {t("empty")}
          </EmptyState>
        }
      />
      <After list={list}>
        <AlertEvents />
      </After>
      {isCreating && <AlertDialog view={null} onClose={() => setCreating(false)} />}
    </Page>
  );
}

/** Offers to add three usual rules for the whole installation. */
function Suggested({ hasMail }: { hasMail: boolean }) {
  const { t } = useTranslation("alerts");
  const { email } = useSession();
  const create = useOperationMutation("alerts.create", ["alerts", "overview"]);
  const emails = hasMail && email !== null ? [email] : [];
  const add = async () => {
    const rules = [
      { name: t("suggested.status"), settings: { kind: "status", severity: "critical" } },
      { name: t("suggested.ejection"), settings: { kind: "ejection", seconds: 60 } },
      { name: t("suggested.budget"), settings: { kind: "budget", percents: [80, 100] } },
    ] as const;
    try {
      for (const { name, settings } of rules)
        await create.mutateAsync({
          name,
          settings: settings.kind === "budget" ? { ...settings, percents: [...settings.percents] } : settings,
          emails,
        });
      showToast(t("suggested.added"));
    } catch (error) {
      showProblem(error);
    }
  };
  return (
    <Button isPending={create.isPending} onPress={() => void add()}>
      {t("suggested")}
    </Button>
  );
}

function useColumns(): TableColumn<Alert>[] {
  const { t } = useTranslation(["alerts", "shell"]);
  const hasMail = useHasMail();
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
      phone: "second",
      header: t("organization"),
      cell: ({ organizationId }) =>
        organizationId === null
          ? t("ofAll")
          : (organizations.find(({ id }) => id === organizationId)?.label ?? organizationId),
    },
    { id: "when", phone: "second", header: t("when"), cell: ({ settings }) => words.when(settings) },
    {
      id: "notified",
      phone: "second",
      header: t("notified"),
      cell: (view) => (
        <span className="flex flex-wrap items-center gap-2">
          {words.notified(view)}
          {view.emails.length > 0 && hasMail === false && <NoMail />}
        </span>
      ),
    },
    {
      id: "state",
      phone: "first",
      header: t("state"),
      cell: ({ isDisabled }) => (
        <Status level={isDisabled ? "off" : "good"}>{t(isDisabled ? "disabled" : "active")}</Status>
      ),
    },
    {
      id: "actions",
      header: t("shell:rowActions"),
      isAction: true,
      cell: (view) => <AlertActions view={view} />,
    },
  ];
}

/** Returns functions that describe in words when a rule fires and who is notified. */
function useAlertWords() {
  const { t } = useTranslation("alerts");
  const share = (percent: number) => formatShare(percent / 100);
  return {
    when(settings: Alert["settings"]): string {
      if (settings.kind === "budget")
        return t("when.budget", { percents: settings.percents.map(share).join(", ") });
      if (settings.kind === "status") return t(`when.status.${settings.severity}`);
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
