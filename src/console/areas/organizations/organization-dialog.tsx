import { useWatch, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { LimitsField, toLimits, type OwnLimits } from "../../ui/forms/limits-field.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { ModelsField, SelectField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { showToast } from "../../ui/overlay/toast.ts";

export type OrganizationView = Output<"organizations.get">;

interface OrganizationValues {
  name: string;
  id: string;
  currency: string;
  access: "all" | "except" | "only";
  models: string[];
  limits: OwnLimits;
  settings: Pick<OrganizationView["settings"], "promptLogDays" | "refuseIgnored">;
}

interface OrganizationDialogProps {
  /** The organization to change; null to create one. */
  view: OrganizationView | null;
  isOpen: boolean;
  onClose(): void;
}

/** Creates or changes an organization. Without access to all organizations, only some fields can be changed. */
export function OrganizationDialog({ view, isOpen, onClose }: OrganizationDialogProps) {
  const { t } = useTranslation("settings");
  const form = useViewForm<OrganizationValues>(valuesOf(view));
  const isGiver = useCan()("admin", "installation");
  const save = useSaving(view, isGiver);
  const defaults = useOperationQuery("limits.defaults", {});
  return (
    <FormDialog
      title={view ? t("organization.edit.title", { name: view.name }) : t("organization.create.title")}
      form={form}
      subject={view && { kind: "organization", ...view }}
      isOpen={isOpen}
      onClose={onClose}
      onSubmit={save}
    >
      <TextField name="name" label={t("organization.name")} isRequired autoFocus />
      {view === null && (
        <>
          <TextField name="id" label={t("organization.id")} help={t("organization.id.help")} isMono />
          <SelectField
            name="currency"
            label={t("organization.currency")}
            help={t("organization.currency.help")}
            options={CURRENCIES}
          />
        </>
      )}
      <NumberField
        name="settings.promptLogDays"
        label={t("organization.promptLogDays")}
        help={t("organization.promptLogDays.help")}
        unit={t("organization.promptLogDays.unit")}
        minimum={1}
        maximum={365}
      />
      <SwitchField
        name="settings.refuseIgnored"
        label={t("organization.refuseIgnored")}
        help={t("organization.refuseIgnored.help")}
      />
      {isGiver && (
        <>
          <AccessFields form={form} />
          <LimitsField name="limits" defaults={defaults.data?.organization ?? {}} />
        </>
      )}
    </FormDialog>
  );
}

function AccessFields({ form }: { form: UseFormReturn<OrganizationValues> }) {
  const { t } = useTranslation("settings");
  const access = useWatch({ control: form.control, name: "access" });
  return (
    <>
      <SelectField
        name="access"
        label={t("organization.models")}
        options={(["all", "except", "only"] as const).map((id) => ({
          id,
          label: t(`organization.models.${id}`),
        }))}
      />
      {access !== "all" && <ModelsField name="models" label={t("organization.models.chosen")} isRequired />}
    </>
  );
}

const CURRENCIES = Intl.supportedValuesOf("currency").map((id) => ({ id, label: id }));

const NEW: OrganizationValues = {
  name: "",
  id: "",
  currency: "USD",
  access: "all",
  models: [],
  limits: {},
  settings: { promptLogDays: null, refuseIgnored: false },
};

function valuesOf(view: OrganizationView | null): OrganizationValues {
  if (!view) return NEW;
  const { name, id, currency, models, limits, settings } = view;
  const access = models === "*" ? "all" : Array.isArray(models) ? "only" : "except";
  const named = models === "*" ? [] : Array.isArray(models) ? models : models.except;
  const { promptLogDays, refuseIgnored } = settings;
  return { name, id, currency, access, models: named, limits, settings: { promptLogDays, refuseIgnored } };
}

function useSaving(view: OrganizationView | null, isGiver: boolean) {
  const { t } = useTranslation("settings");
  const create = useOperationMutation("organizations.create", ["organizations"]);
  const update = useOperationMutation("organizations.update", ["organizations"]);
  return async ({ name, id, currency, access, models, limits, settings }: OrganizationValues) => {
    const allowed = access === "all" ? ("*" as const) : access === "only" ? models : { except: models };
    const fields = { name, settings, ...(isGiver && { models: allowed, limits: toLimits(limits) }) };
    if (view) await update.mutateAsync({ id: view.id, version: view.version, ...fields });
    else await create.mutateAsync({ ...fields, currency, ...(id !== "" && { id }) });
    showToast(t(view ? "organization.saved" : "organization.created.done"));
  };
}
