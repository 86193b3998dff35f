import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useOrganization } from "../../api/organization.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { OrganizationField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";

/** Kinds of endpoints: for all messages, for the addresses that jobs name, and for alerts in a service's format. */
const KINDS = ["all", "named", "slack", "pagerduty"] as const;

interface WebhookValues {
  organizationId: string | null;
  isOfAll: boolean;
  kind: (typeof KINDS)[number];
  url: string;
  routingKey: string;
}

const PLACEHOLDERS = {
  all: "https://",
  slack: "https://hooks.slack.com/services/…",
  pagerduty: "https://events.pagerduty.com/v2/enqueue",
};

interface NewWebhookDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** Called with the secret that signs the messages. The secret must be shown once. */
  onSecret(secret: string): void;
}

export function NewWebhookDialog({ isOpen, onClose, onSecret }: NewWebhookDialogProps) {
  const { t } = useTranslation("settings");
  const { id } = useOrganization();
  const canBeOfAll = useCan()("admin", "installation");
  const form = useForm<WebhookValues>({
    values: { organizationId: id, isOfAll: false, kind: "all", url: "", routingKey: "" },
  });
  const [kind, isOfAll] = useWatch({ control: form.control, name: ["kind", "isOfAll"] });
  const create = useOperationMutation("webhooks.create", ["webhooks"]);
  return (
    <FormDialog
      title={t("webhook.create.title")}
      form={form}
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("webhooks.create")}
      onSubmit={async ({ organizationId, isOfAll, kind, url, routingKey }) => {
        const { secret } = await create.mutateAsync({
          organizationId: isOfAll ? null : (organizationId ?? ""),
          format: kind === "slack" || kind === "pagerduty" ? kind : "standard",
          url: kind === "named" || url === "" ? null : url,
          ...(kind === "pagerduty" && { routingKey }),
        });
        showToast(t("webhook.added"));
        if (secret !== null) onSecret(secret);
      }}
    >
      {canBeOfAll && (
        <SwitchField name="isOfAll" label={t("webhook.isOfAll")} help={t("webhook.isOfAll.help")} />
      )}
      {!(canBeOfAll && isOfAll) && (
        <OrganizationField name="organizationId" label={t("webhook.organization")} isRequired />
      )}
      <ChoiceField
        name="kind"
        label={t("webhook.kind")}
        choices={KINDS.filter((each) => !(isOfAll && each === "named")).map((each) => ({
          id: each,
          label: t(`webhook.kind.${each}`),
        }))}
      />
      <AddressFields kind={kind} />
    </FormDialog>
  );
}

function AddressFields({ kind }: Pick<WebhookValues, "kind">) {
  const { t } = useTranslation("settings");
  return (
    <>
      {kind === "pagerduty" && (
        <TextField
          name="routingKey"
          label={t("webhook.routingKey")}
          help={t("webhook.routingKey.help")}
          isMono
          isRequired
        />
      )}
      {kind !== "named" && (
        <TextField
          name="url"
          label={t("webhook.url")}
          help={t(`webhook.url.help.${kind}`)}
          type="url"
          inputMode="url"
          placeholder={PLACEHOLDERS[kind]}
          isMono
          isRequired={kind !== "pagerduty"}
        />
      )}
    </>
  );
}
