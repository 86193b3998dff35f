import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { LimitsField } from "../../ui/forms/limits-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { toLimits } from "../../ui/forms/limits.ts";
import { useActing } from "../../api/queries.ts";
import type { LimitsOwner } from "./views.ts";

export function LimitsDialog({ owner, onClose }: { owner: LimitsOwner; onClose(): void }) {
  const { t } = useTranslation("money");
  const { kind, name, version, limits, defaults } = owner;
  const form = useForm({ values: { limits } });
  const updateOrganization = useActing("organizations.update", ["organizations"]);
  const updateKey = useActing("keys.update", ["keys"]);
  return (
    <FormDialog
      title={t("limits.edit.title", { name })}
      form={form}
      isOpen
      onClose={onClose}
      onSubmit={async (values) => {
        const change = { id: owner.id ?? "", version, limits: toLimits(values.limits) };
        await (kind === "key" ? updateKey.mutateAsync(change) : updateOrganization.mutateAsync(change));
        showToast(t("limits.saved"));
      }}
    >
      <LimitsField name="limits" defaults={defaults} />
    </FormDialog>
  );
}
