import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";
import { KeyFields, NameField, toInput, valuesOf } from "./key-fields.tsx";
import type { Key } from "./key-view.tsx";

interface EditKeyDialogProps {
  view: Key;
  isOpen: boolean;
  onClose(): void;
}

/** Changes a key; what was changed by somebody else in the meantime is not overwritten. */
export function EditKeyDialog({ view, isOpen, onClose }: EditKeyDialogProps) {
  const { t } = useTranslation("keys");
  const form = useForm({ values: valuesOf(view) });
  const update = useActing("keys.update", ["keys"]);
  return (
    <FormDialog
      title={t("edit.title")}
      form={form}
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("form.save")}
      onSubmit={async (values) => {
        await update.mutateAsync({ id: view.id, version: view.version, ...toInput(values) });
        showToast(t("save.done"));
      }}
    >
      <NameField />
      <KeyFields />
    </FormDialog>
  );
}
