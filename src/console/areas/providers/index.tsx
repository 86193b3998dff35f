import { useNavigate } from "@tanstack/react-router";
import { PlugZap } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useLive } from "../../api/events.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { ChannelHealth, CredentialState } from "./channel-health.tsx";
import type { ListedChannel } from "./channel-values.ts";

/** The page of all channels, with their health. */
export default function ProvidersPage() {
  const { t } = useTranslation("providers");
  const { t: shell } = useTranslation();
  const navigate = useNavigate();
  const canAdd = useCan()("admin", "installation");
  const list = useList("channels.list", {});
  useLive("channels");
  const add = canAdd && (
    <ButtonLink kind="primary" to="/models/providers/add">
      {t("add")}
    </ButtonLink>
  );
  return (
    <Page title={shell("nav.models")} about={t("about")} tabs={<AreaTabs area="models" />} actions={add}>
      <DataTable
        id="channels"
        label={t("title")}
        columns={useColumns()}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: "/models/providers/$id", params: { id } })}
        empty={
          <EmptyState icon={PlugZap} action={add}>
            {t("empty")}. {t("empty.help")}
          </EmptyState>
        }
      />
    </Page>
  );
}

function useColumns(): readonly TableColumn<ListedChannel>[] {
  const { t } = useTranslation("providers");
  return [
    {
      id: "id",
      header: t("column.id"),
      cell: ({ id }) => (
        <TextLink to="/models/providers/$id" params={{ id }}>
          <span className="whitespace-nowrap">{id}</span>
        </TextLink>
      ),
    },
    {
      id: "health",
      phone: "first",
      header: t("column.health"),
      cell: (channel) => <ChannelHealth channel={channel} />,
    },
    { id: "provider", phone: "second", header: t("column.provider"), cell: ({ provider }) => provider },
    {
      id: "origin",
      header: t("column.origin"),
      cell: ({ origin }) => <OneLine>{t(`origin.${origin}`)}</OneLine>,
    },
    {
      id: "credential",
      phone: "named",
      header: t("column.credential"),
      cell: (channel) => (
        <OneLine>
          <CredentialState channel={channel} />
        </OneLine>
      ),
    },
    {
      id: "baseUrl",
      header: t("column.baseUrl"),
      cell: ({ baseUrl }) =>
        baseUrl && (
          <span title={baseUrl} className="block max-w-72 truncate text-muted">
            {baseUrl}
          </span>
        ),
    },
  ];
}

function OneLine({ children }: { children: ReactNode }) {
  return <span className="whitespace-nowrap">{children}</span>;
}
