import { Ban, Pencil, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { AlertDialog } from "./alert-dialog.tsx";
import type { Alert } from "./views.ts";

/** What may be done with a rule. */
export function AlertActs({ view }: { view: Alert }) {
  const { t } = useTranslation("alerts");
  const can = useCan();
  const [act, setAct] = useState<"edit" | "remove" | null>(null);
  const update = useActing("alerts.update", ["alerts"]);
  const remove = useActing("alerts.remove", ["alerts"]);
  if (!can("admin")) return null;
  const toggle = () =>
    update.mutate(
      { id: view.id, isDisabled: !view.isDisabled },
      { onSuccess: () => showToast(t("saved")), onError: showProblem },
    );
  return (
    <>
      <ActionMenu
        label={t("acts", { name: view.name })}
        actions={[
          { label: t("edit"), icon: Pencil, onAction: () => setAct("edit") },
          {
            label: t(view.isDisabled ? "enable" : "disable"),
            icon: view.isDisabled ? Undo2 : Ban,
            onAction: toggle,
          },
          { label: t("remove"), icon: Trash2, isDangerous: true, onAction: () => setAct("remove") },
        ]}
      />
      {act === "edit" && <AlertDialog view={view} onClose={() => setAct(null)} />}
      <ConfirmDialog
        title={t("remove.title", { name: view.name })}
        consequences={t("remove.what")}
        confirmLabel={t("remove")}
        isOpen={act === "remove"}
        onClose={() => setAct(null)}
        onConfirm={async () => {
          await remove.mutateAsync({ id: view.id });
          showToast(t("removed"));
        }}
      />
    </>
  );
}
