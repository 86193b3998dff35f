import { Webhook } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../components/area-tabs.tsx";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Page } from "../../components/page.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Time } from "../../components/time.tsx";
import { useOrganization } from "../../lib/organization.ts";
import { useOrganizationOptions } from "../../lib/options.ts";
import { useList } from "../../lib/queries.ts";
import { useCan } from "../../lib/session.ts";
import { Deliveries } from "./deliveries.tsx";
import { NewWebhookDialog } from "./new-webhook-dialog.tsx";
import { WebhookActs } from "./webhook-acts.tsx";
import type { Endpoint } from "./views.ts";

export default function WebhooksPage() {
  const { t } = useTranslation(["settings", "shell"]);
  const can = useCan();
  const { id } = useOrganization();
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const list = useList("webhooks.list", id === null ? {} : { organizationId: id });
  const create = can("admin") && (
    <Button kind="primary" onPress={() => setCreating(true)}>
      {t("webhooks.create")}
    </Button>
  );
  return (
    <Page
      title={t("shell:nav.settings")}
      about={t("webhooks.intro")}
      tabs={<AreaTabs area="settings" />}
      actions={create}
    >
      <DataTable
        id="webhooks"
        label={t("webhooks.title")}
        columns={useColumns(setSecret)}
        list={list}
        isShort
        filters={<h2 className="px-1 font-semibold">{t("webhooks.title")}</h2>}
        rowId={({ id }) => id}
        empty={<EmptyState icon={Webhook}>{t("webhooks.empty")}</EmptyState>}
      />
      <Deliveries />
      <NewWebhookDialog isOpen={isCreating} onClose={() => setCreating(false)} onSecret={setSecret} />
      <SecretOnce title={t("webhook.secret")} secret={secret} onClose={() => setSecret(null)} />
    </Page>
  );
}

function useColumns(onSecret: (secret: string) => void): Column<Endpoint>[] {
  const { t } = useTranslation("settings");
  const organizations = useOrganizationOptions();
  return [
    {
      id: "url",
      header: t("webhook.url"),
      cell: ({ url }) =>
        url === null ? (
          <span className="text-muted">{t("webhook.url.jobs")}</span>
        ) : (
          <span className="block max-w-96 truncate font-mono text-xs" title={url}>
            {url}
          </span>
        ),
    },
    {
      id: "organization",
      header: t("webhook.organization"),
      cell: ({ organizationId }) =>
        organizations.find(({ id }) => id === organizationId)?.label ?? organizationId,
    },
    { id: "created", header: t("webhook.created"), cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: "acts",
      header: "",
      isNumber: true,
      cell: (view) => <WebhookActs view={view} onSecret={onSecret} />,
    },
  ];
}
