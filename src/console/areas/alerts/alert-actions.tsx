import { Ban, Pencil, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { AlertDialog } from "./alert-dialog.tsx";
import type { Alert } from "./views.ts";

export function AlertActions({ view }: { view: Alert }) {
  const { t } = useTranslation("alerts");
  const can = useCan();
  const [open, setOpen] = useState<"edit" | "remove" | null>(null);
  const update = useOperationMutation("alerts.update", ["alerts"]);
  const remove = useOperationMutation("alerts.remove", ["alerts"]);
  if (!can("admin")) return null;
  const toggle = () =>
    update.mutate(
      { id: view.id, isDisabled: !view.isDisabled },
      { onSuccess: () => showToast(t("saved")), onError: showProblem },
    );
  return (
    <>
      <ActionMenu
        label={t("actions", { name: view.name })}
        actions={[
          { label: t("edit"), icon: Pencil, onAction: () => setOpen("edit") },
          {
            label: t(view.isDisabled ? "enable" : "disable"),
            icon: view.isDisabled ? Undo2 : Ban,
            onAction: toggle,
          },
          { label: t("remove"), icon: Trash2, isDangerous: true, onAction: () => setOpen("remove") },
        ]}
      />
      {open === "edit" && <AlertDialog view={view} onClose={() => setOpen(null)} />}
      <ConfirmDialog
        title={t("remove.title", { name: view.name })}
        consequences={t("remove.what")}
        confirmLabel={t("remove")}
        isOpen={open === "remove"}
        onClose={() => setOpen(null)}
        onConfirm={async () => {
          await remove.mutateAsync({ id: view.id });
          showToast(t("removed"));
        }}
      />
    </>
  );
}
