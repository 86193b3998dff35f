import { Webhook } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import { After } from "../../ui/page/after.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { Time } from "../../ui/text/time.tsx";
import { WebhookDeliveries } from "./deliveries.tsx";
import { NewWebhookDialog } from "./new-webhook-dialog.tsx";
import { WebhookActions, type Endpoint } from "./webhook-actions.tsx";

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
        filters={<h2 className="px-1 font-semibold">{t("webhooks.title")}</h2>}
        rowId={({ id }) => id}
        empty={<EmptyState icon={Webhook}>{t("webhooks.empty")}</EmptyState>}
      />
      <After list={list}>
        <WebhookDeliveries />
      </After>
      <NewWebhookDialog isOpen={isCreating} onClose={() => setCreating(false)} onSecret={setSecret} />
      <SecretOnce title={t("webhook.secret")} secret={secret} onClose={() => setSecret(null)} />
    </Page>
  );
}

function useColumns(onSecret: (secret: string) => void): TableColumn<Endpoint>[] {
  const { t } = useTranslation(["settings", "shell"]);
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
    { id: "format", header: t("webhook.format"), cell: ({ format }) => t(`webhook.format.${format}`) },
    {
      id: "organization",
      phone: "second",
      header: t("webhook.organization"),
      cell: ({ organizationId }) =>
        organizationId === null
          ? t("webhook.ofAll")
          : (organizations.find(({ id }) => id === organizationId)?.label ?? organizationId),
    },
    {
      id: "created",
      phone: "named",
      header: t("webhook.created"),
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      id: "actions",
      header: t("shell:rowActions"),
      isAction: true,
      cell: (view) => <WebhookActions view={view} onSecret={onSecret} />,
    },
  ];
}
