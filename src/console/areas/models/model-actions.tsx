import { useNavigate } from "@tanstack/react-router";
import { Pencil, Power, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import type { ModelRow } from "./model-state.tsx";

/**
 * The menu of actions on a model for all organizations. Models of the configuration file or the environment have no
 * actions.
 */
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

interface Values {
  displayName: string;
  /** The model's definition without its display name and its route, as JSON. */
  definition: string;
}

/** Changes a model's display name, and its definition as JSON, with the field names of the configuration file. */
function EditModel({ model, onClose }: { model: ModelRow; onClose(): void }) {
  const { t } = useTranslation("models");
  const { id, displayName, version } = model;
  const { route: _route, display_name: _name, ...declared } = model.definition ?? {};
  const form = useViewForm<Values>({ displayName, definition: JSON.stringify(declared, null, 2) });
  const update = useOperationMutation("models.update", ["models", "routes", "prices"]);
  const submit = async (values: Values) => {
    const definition = readDefinition(values.definition);
    const removed = Object.fromEntries(Object.keys(declared).map((name) => [name, null]));
    await update.mutateAsync({
      id,
      displayName: values.displayName.trim() === "" ? null : values.displayName.trim(),
      definition: { ...removed, ...definition },
      ...(version !== null && { version }),
    });
    showToast(t("form.saved"));
  };
  return (
    <FormDialog
      title={t("form.edit", { model: id })}
      form={form}
      subject={{ kind: "model", id, version }}
      isOpen
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="displayName" label={t("form.displayName")} />
      <TextField
        name="definition"
        label={t("form.definition")}
        help={t("form.definition.help")}
        lines={12}
        isMono
      />
    </FormDialog>
  );
}

function readDefinition(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ApiError(400, "invalid", message, "definition", null);
  }
}
