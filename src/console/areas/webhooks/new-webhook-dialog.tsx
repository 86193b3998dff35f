import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useOrganization } from "../../api/organization.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { OrganizationField } from "../../ui/forms/select-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";

interface WebhookValues {
  organizationId: string | null;
  kind: "all" | "named";
  url: string;
}

interface NewWebhookDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** The secret that signs for it, to be shown once. */
  onSecret(secret: string): void;
}

export function NewWebhookDialog({ isOpen, onClose, onSecret }: NewWebhookDialogProps) {
  const { t } = useTranslation("settings");
  const { id } = useOrganization();
  const form = useForm<WebhookValues>({ values: { organizationId: id, kind: "all", url: "" } });
  const kind = useWatch({ control: form.control, name: "kind" });
  const create = useOperationMutation("webhooks.create", ["webhooks"]);
  return (
    <FormDialog
      title={t("webhook.create.title")}
      form={form}
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("webhooks.create")}
      onSubmit={async ({ organizationId, kind, url }) => {
        const input = { organizationId: organizationId ?? "", url: kind === "all" ? url : null };
        const { secret } = await create.mutateAsync(input);
        showToast(t("webhook.added"));
        onSecret(secret);
      }}
    >
      <OrganizationField name="organizationId" label={t("webhook.organization")} isRequired />
      <ChoiceField
        name="kind"
        label={t("webhook.kind")}
        choices={[
          { id: "all", label: t("webhook.kind.all") },
          { id: "named", label: t("webhook.kind.named") },
        ]}
      />
      {kind === "all" && (
        <TextField
          name="url"
          label={t("webhook.url")}
          help={t("webhook.url.help")}
          type="url"
          inputMode="url"
          placeholder="https://"
          isMono
          isRequired
        />
      )}
    </FormDialog>
  );
}
