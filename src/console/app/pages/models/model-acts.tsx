import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Pencil, Power, Trash2 } from "lucide-react";
import { Button } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { showProblem, showToast } from "../../components/toast.tsx";
import { useActing } from "../../lib/queries.ts";
import { useCan } from "../../lib/session.ts";
import { EditModel } from "./edit-model.tsx";
import type { ModelRow } from "./model-state.tsx";

/** What is done with a model as a whole, for all organizations. Those of the file are changed there. */
export function ModelActs({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const navigate = useNavigate();
  const [open, setOpen] = useState<"edit" | "disable" | "removal" | null>(null);
  const update = useActing("models.update", ["models", "routes"]);
  const remove = useActing("models.remove", ["models", "routes"]);
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
  return (
    <>
      <Button icon={Pencil} onPress={() => setOpen("edit")}>
        {t("detail.edit")}
      </Button>
      <Button
        icon={Power}
        onPress={() => (isDisabled ? void setDisabled(false).catch(showProblem) : setOpen("disable"))}
      >
        {t(isDisabled ? "all.enable" : "all.disable")}
      </Button>
      {origin === "database" && (
        <Button icon={Trash2} onPress={() => setOpen("removal")}>
          {t(isOverride ? "detail.restore" : "detail.remove")}
        </Button>
      )}
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
