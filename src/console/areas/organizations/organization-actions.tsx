import { Ban, Pencil, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { MAX_PAGE, useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { formatItemCount } from "../../ui/text/format.ts";
import { OrganizationDialog, type OrganizationView } from "./organization-dialog.tsx";

export function OrganizationActions({ view }: { view: OrganizationView }) {
  const { t } = useTranslation("settings");
  const can = useCan();
  const [open, setOpen] = useState<"edit" | "disable" | null>(null);
  const update = useOperationMutation("organizations.update", ["organizations"]);
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
        onAction: () => setOpen("disable"),
      };
  return (
    <>
      <ActionMenu
        label={t("actions", { name: view.name })}
        actions={[
          { label: t("organization.edit"), icon: Pencil, onAction: () => setOpen("edit") },
          ...(can("admin", "installation") ? [toggle] : []),
        ]}
      />
      <OrganizationDialog view={view} isOpen={open === "edit"} onClose={() => setOpen(null)} />
      {open === "disable" && <DisableDialog view={view} onClose={() => setOpen(null)} />}
    </>
  );
}

function DisableDialog({ view, onClose }: { view: OrganizationView; onClose(): void }) {
  const { t } = useTranslation("settings");
  const update = useOperationMutation("organizations.update", ["organizations"]);
  const filter = { organizationId: view.id, limit: MAX_PAGE };
  const keys = useOperationQuery("keys.list", filter);
  const jobs = useOperationQuery("jobs.list", { ...filter, status: "pending,in_progress" });
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
            {keys.data && <li>{t("organization.disable.keys", { count: formatItemCount(keys.data) })}</li>}
            {jobs.data && <li>{t("organization.disable.jobs", { count: formatItemCount(jobs.data) })}</li>}
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
