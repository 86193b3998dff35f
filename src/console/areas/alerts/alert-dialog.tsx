import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { OrganizationField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { useOrganization } from "../../api/organization.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { KINDS, toSettings, valuesOf, type AlertValues } from "./alert-values.ts";
import { RuleFields } from "./rule-fields.tsx";
import type { Alert } from "./views.ts";

/** Adds a rule, or changes one. */
export function AlertDialog({ view, onClose }: { view: Alert | null; onClose(): void }) {
  const { t } = useTranslation("alerts");
  const { id } = useOrganization();
  const form = useForm<AlertValues>({ defaultValues: valuesOf(view, id) });
  const [kind, organizationId] = useWatch({
    control: form.control,
    name: ["settings.kind", "organizationId"],
  });
  const save = useSaving(view);
  return (
    <FormDialog
      title={view ? t("form.edit", { name: view.name }) : t("form.create")}
      form={form}
      isOpen
      onClose={onClose}
      onSubmit={save}
    >
      <TextField name="name" label={t("name")} isRequired autoFocus />
      {view === null && <OrganizationField name="organizationId" label={t("organization")} isRequired />}
      <ChoiceField
        name="settings.kind"
        label={t("when")}
        choices={KINDS.map((id) => ({ id, label: t(`kind.${id}`) }))}
      />
      <RuleFields kind={kind} organizationId={organizationId} />
      <LinesField
        name="emails"
        label={t("form.emails")}
        help={t("form.emails.help")}
        placeholder="ops@example.org"
      />
      <SwitchField name="usesWebhooks" label={t("form.webhooks")} />
    </FormDialog>
  );
}

function useSaving(view: Alert | null) {
  const { t } = useTranslation("alerts");
  const create = useOperationMutation("alerts.create", ["alerts"]);
  const update = useOperationMutation("alerts.update", ["alerts"]);
  return async ({ organizationId, name, settings, emails, usesWebhooks }: AlertValues) => {
    const fields = { name, settings: toSettings(settings), emails, usesWebhooks };
    if (view) await update.mutateAsync({ id: view.id, version: view.version, ...fields });
    else await create.mutateAsync({ ...fields, organizationId: organizationId ?? "" });
    showToast(t(view ? "saved" : "added"));
  };
}
