import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Pencil, Power, Trash2 } from "lucide-react";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { EditModel } from "./edit-model.tsx";
import type { ModelRow } from "./model-state.tsx";

/** The actions on a model for all organizations. Models of the file have none. */
export function ModelActions({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const navigate = useNavigate();
  const [open, setOpen] = useState<"edit" | "disable" | "removal" | null>(null);
  const update = useOperationMutation("models.update", ["models", "routes"]);
  const remove = useOperationMutation("models.remove", ["models", "routes"]);
  const { id, origin, isDisabled, isOverride, version } = model;
  if (!useCan()("admin", "installation") || origin === "file" || origin === "environment") return null;
  const setDisabled = async (isWanted: boolean) => {
    await update.mutateAsync({ id, isDisabled: isWanted, ...(version !== null && { version }) });
    showToast(t(isWanted ? "all.disabled" : "all.enabled"));
  };
  const removeNow = async () => {
    await remove.mutateAsync({ id });
    showToast(t("remove.done"));
    if (!isOverride) await navigate({ to: "/models" });
  };
  const close = () => setOpen(null);
  const removal = {
    label: t(isOverride ? "detail.restore" : "detail.remove"),
    icon: Trash2,
    isDangerous: true,
    onAction: () => setOpen("removal"),
  };
  return (
    <>
      <ActionMenu
        actions={[
          { label: t("detail.edit"), icon: Pencil, onAction: () => setOpen("edit") },
          isDisabled
            ? {
                label: t("all.enable"),
                icon: Power,
                onAction: () => void setDisabled(false).catch(showProblem),
              }
            : { label: t("all.disable"), icon: Power, isDangerous: true, onAction: () => setOpen("disable") },
          ...(origin === "database" ? [removal] : []),
        ]}
      />
      {open === "edit" && <EditModel model={model} onClose={close} />}
      <ConfirmDialog
        title={t("all.disable.title", { model: id })}
        consequences={t("remove.calls")}
        confirmLabel={t("all.disable")}
        isOpen={open === "disable"}
        onClose={close}
        onConfirm={() => setDisabled(true)}
      />
      <ConfirmDialog
        title={t(isOverride ? "restore.title" : "remove.title", { model: id })}
        consequences={t(isOverride ? "restore.text" : "remove.calls")}
        confirmLabel={t(isOverride ? "detail.restore" : "detail.remove")}
        {...(!isOverride && { name: id })}
        isOpen={open === "removal"}
        onClose={close}
        onConfirm={removeNow}
      />
    </>
  );
}
