import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { ApiError } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import type { ModelRow } from "./model-state.tsx";

interface Values {
  displayName: string;
  /** JSON. */
  definition: string;
}

/** Changes a model's name, and its other declared members as JSON of the configuration file. */
export function EditModel({ model, onClose }: { model: ModelRow; onClose(): void }) {
  const { t } = useTranslation("models");
  const { id, displayName, version } = model;
  const { route: _route, display_name: _name, ...declared } = model.definition ?? {};
  const form = useForm<Values>({
    defaultValues: { displayName, definition: JSON.stringify(declared, null, 2) },
  });
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
    <FormDialog title={t("form.edit", { model: id })} form={form} isOpen onClose={onClose} onSubmit={submit}>
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
