import { Ban, Pencil, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { useActing, useReading } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { OrganizationDialog } from "./organization-dialog.tsx";
import type { Organization } from "./organization-dialog.tsx";

/** What may be done with an organization. */
export function OrganizationActs({ view }: { view: Organization }) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const [act, setAct] = useState<"edit" | "disable" | null>(null);
  const update = useActing("organizations.update", ["organizations"]);
  if (!can("admin")) return null;
  const enable = () =>
    update.mutate(
      { id: view.id, isDisabled: false },
      { onSuccess: () => showToast(t("organization.enabled.done")), onError: showProblem },
    );
  const toggle = view.isDisabled
    ? { label: t("organization.enable"), icon: Undo2, onAction: enable }
    : {
        label: t("organization.disable"),
        icon: Ban,
        isDangerous: true,
        onAction: () => setAct("disable"),
      };
  return (
    <>
      <ActionMenu
        label={t("acts", { name: view.name })}
        actions={[
          { label: t("organization.edit"), icon: Pencil, onAction: () => setAct("edit") },
          ...(can("admin", "installation") ? [toggle] : []),
        ]}
      />
      <OrganizationDialog view={view} isOpen={act === "edit"} onClose={() => setAct(null)} />
      {act === "disable" && <DisableDialog view={view} onClose={() => setAct(null)} />}
    </>
  );
}

/** Counted up to this. */
const MOST = 1000;

function DisableDialog({ view, onClose }: { view: Organization; onClose(): void }) {
  const { t } = useTranslation("settings");
  const update = useActing("organizations.update", ["organizations"]);
  const filter = { organizationId: view.id, limit: MOST };
  const keys = useReading("keys.list", filter);
  const jobs = useReading("jobs.list", { ...filter, status: "pending,in_progress" });
  const countOf = (page: { data: unknown[]; next: string | null }) =>
    `${page.data.length}${page.next === null ? "" : "+"}`;
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t("organization.disable.title", { name: view.name })}
      name={view.name}
      consequences={
        <>
          <p>{t("organization.disable.what")}</p>
          <ul className="mt-2 list-disc pl-5 text-text">
            {keys.data && <li>{t("organization.disable.keys", { count: countOf(keys.data) })}</li>}
            {jobs.data && <li>{t("organization.disable.jobs", { count: countOf(jobs.data) })}</li>}
          </ul>
        </>
      }
      confirmLabel={t("organization.disable")}
      onConfirm={async () => {
        await update.mutateAsync({ id: view.id, isDisabled: true });
        showToast(t("organization.disabled.done"));
      }}
    />
  );
}
