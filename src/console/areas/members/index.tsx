import { Users } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useList } from "../../api/queries.ts";
import { useCan, useSession } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { DataTable, type TableColumn } from "../../ui/table/data-table.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { MemberActions } from "./member-actions.tsx";
import { MemberDialog, type Member } from "./member-dialog.tsx";

export default function MembersPage() {
  const { t } = useTranslation(["settings", "shell"]);
  const can = useCan();
  const [isCreating, setCreating] = useState(false);
  const [password, setPassword] = useState<string | null>(null);
  const list = useList("members.list", {});
  const create = can("owner") && (
    <Button kind="primary" onPress={() => setCreating(true)}>
      {t("members.create")}
    </Button>
  );
  return (
    <Page
      title={t("shell:nav.settings")}
      about={t("members.intro")}
      tabs={<AreaTabs area="settings" />}
      actions={create}
    >
      <DataTable
        id="members"
        label={t("members.title")}
        columns={useColumns(setPassword)}
        list={list}
        filters={<h2 className="px-1 font-semibold">{t("members.title")}</h2>}
        rowId={({ id }) => id}
        empty={<EmptyState icon={Users}>{t("members.empty")}</EmptyState>}
      />
      <MemberDialog
        view={null}
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onPassword={setPassword}
      />
      <SecretOnce title={t("member.newPassword.title")} secret={password} onClose={() => setPassword(null)} />
    </Page>
  );
}

function useColumns(onPassword: (password: string) => void): TableColumn<Member>[] {
  const { t } = useTranslation(["settings", "shell"]);
  const session = useSession();
  const organizations = useOrganizationOptions();
  const nameOf = (id: string) => organizations.find((each) => each.id === id)?.label ?? id;
  return [
    {
      id: "name",
      header: t("member.name"),
      cell: ({ id, name, email }) => (
        <span className="flex flex-col">
          <span className="font-medium">
            {name}
            {id === session.id && <span className="ml-2 font-normal text-muted">({t("member.you")})</span>}
          </span>
          {email !== null && <span className="text-xs text-muted">{email}</span>}
        </span>
      ),
    },
    { id: "role", phone: "second", header: t("member.role"), cell: ({ role }) => t(`shell:role.${role}`) },
    {
      id: "organizations",
      phone: "named",
      header: t("member.organizations"),
      cell: ({ organizations }) =>
        organizations === "*" ? t("member.organizations.all") : organizations.map(nameOf).join(", "),
    },
    { id: "totp", header: t("member.totp"), cell: ({ isTotpOn }) => t(isTotpOn ? "shell:on" : "shell:off") },
    {
      id: "lastSeen",
      phone: "named",
      header: t("member.lastSeen"),
      cell: ({ lastSeenAt }) =>
        lastSeenAt === null ? (
          <span className="text-muted">{t("member.never")}</span>
        ) : (
          <Time at={lastSeenAt} />
        ),
    },
    {
      id: "state",
      phone: "first",
      header: t("member.state"),
      cell: ({ isDisabled }) => (
        <Status level={isDisabled ? "off" : "good"}>
          {t(isDisabled ? "member.disabled" : "member.active")}
        </Status>
      ),
    },
    {
      id: "actions",
      header: t("shell:rowActions"),
      isAction: true,
      cell: (view) => <MemberActions view={view} onPassword={onPassword} />,
    },
  ];
}
