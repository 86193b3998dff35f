import { useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Input } from "../../api/call.ts";
import { useOrganization } from "../../api/organization.ts";
import { MAX_PAGE, useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { ChoiceField } from "../../ui/forms/choice-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { OrganizationField, SelectField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { showToast } from "../../ui/overlay/toast.ts";
import { formatMoney } from "../../ui/text/format.ts";
import { NoMail, useHasMail } from "./no-mail.tsx";
import type { Alert } from "./views.ts";

/** Adds or changes an alert rule. */
export function AlertDialog({ view, onClose }: { view: Alert | null; onClose(): void }) {
  const { t } = useTranslation("alerts");
  const { id, chosen } = useOrganization();
  const canBeOfAll = useCan()("admin", "installation");
  const form = useViewForm<AlertValues>(valuesOf(view, id, chosen === null && canBeOfAll));
  const [kind, organizationId, isOfAll, emails] = useWatch({
    control: form.control,
    name: ["settings.kind", "organizationId", "isOfAll", "emails"],
  });
  const save = useSaving(view);
  const hasMail = useHasMail();
  return (
    <FormDialog
      title={view ? t("form.edit", { name: view.name }) : t("form.create")}
      form={form}
      subject={view && { kind: "alert", ...view }}
      isOpen
      onClose={onClose}
      onSubmit={save}
    >
      <TextField name="name" label={t("name")} isRequired autoFocus />
      {view === null && canBeOfAll && (
        <SwitchField name="isOfAll" label={t("form.isOfAll")} help={t("form.isOfAll.help")} />
      )}
      {view === null && !(canBeOfAll && isOfAll) && (
        <OrganizationField name="organizationId" label={t("organization")} isRequired />
      )}
      <ChoiceField
        name="settings.kind"
        label={t("when")}
        choices={KINDS.map((id) => ({ id, label: t(`kind.${id}`) }))}
      />
      <RuleFields kind={kind} organizationId={isOfAll ? null : organizationId} />
      <LinesField
        name="emails"
        label={t("form.emails")}
        help={t("form.emails.help")}
        placeholder="ops@example.org"
      />
      {emails.length > 0 && hasMail === false && <NoMail />}
      <SwitchField name="usesWebhooks" label={t("form.webhooks")} help={t("form.nobody")} />
    </FormDialog>
  );
}

function useSaving(view: Alert | null) {
  const { t } = useTranslation("alerts");
  const create = useOperationMutation("alerts.create", ["alerts"]);
  const update = useOperationMutation("alerts.update", ["alerts"]);
  return async ({ isOfAll, organizationId, name, settings, emails, usesWebhooks }: AlertValues) => {
    const fields = { name, settings: toSettings(settings), emails, usesWebhooks };
    if (view) await update.mutateAsync({ id: view.id, version: view.version, ...fields });
    else await create.mutateAsync({ ...fields, organizationId: isOfAll ? null : (organizationId ?? "") });
    showToast(t(view ? "saved" : "added"));
  };
}

interface RuleFieldsProps {
  kind: AlertValues["settings"]["kind"];
  organizationId: string | null;
}

/** The fields that a rule of this kind has. */
function RuleFields({ kind, organizationId }: RuleFieldsProps) {
  const { t } = useTranslation("alerts");
  if (kind === "budget") return <BudgetFields organizationId={organizationId} />;
  if (kind === "ejection")
    return (
      <NumberField
        name="settings.seconds"
        label={t("form.seconds")}
        minimum={10}
        maximum={86_400}
        isRequired
      />
    );
  if (kind === "status")
    return (
      <ChoiceField
        name="settings.severity"
        label={t("form.severity")}
        choices={SEVERITIES.map((id) => ({ id, label: t(`severity.${id}`) }))}
      />
    );
  return (
    <div className="grid items-end gap-4 sm:grid-cols-3">
      <NumberField
        name="settings.percent"
        label={t("form.percent")}
        minimum={1}
        maximum={100}
        unit="%"
        isRequired
      />
      <NumberField name="settings.minutes" label={t("form.minutes")} minimum={1} maximum={1440} isRequired />
      <NumberField name="settings.minRequests" label={t("form.minRequests")} minimum={1} isRequired />
    </div>
  );
}

function BudgetFields({ organizationId }: Pick<RuleFieldsProps, "organizationId">) {
  const { t } = useTranslation(["alerts", "money"]);
  const budgets = useOperationQuery("budgets.list", {
    limit: MAX_PAGE,
    ...(organizationId !== null && { organizationId }),
  });
  const options = (budgets.data?.data ?? [])
    .filter((budget) => organizationId === null || budget.organizationId === organizationId)
    .map(({ id, keyId, keyName, amount, currency, period }) => ({
      id,
      label: keyId === null ? t("money:budget.whole") : t("money:budget.ofKey", { name: keyName ?? keyId }),
      detail: `${formatMoney(amount, currency)} · ${t(`money:period.${period}`)}`,
    }));
  return (
    <>
      <SelectField
        name="settings.budgetId"
        label={t("form.budget")}
        options={[{ id: ALL_BUDGETS, label: t("form.budget.all") }, ...options]}
      />
      <LinesField
        name="settings.percents"
        label={t("form.percents")}
        help={t("form.percents.help")}
        isRequired
      />
    </>
  );
}

const KINDS = ["budget", "error_rate", "ejection", "status"] as const;
const SEVERITIES = ["critical", "warning"] as const;

/** Value of the option for all budgets. */
const ALL_BUDGETS = "*";

/** The values of a rule's form. The form has fields for all kinds, but uses only the fields of the chosen kind. */
interface AlertValues {
  isOfAll: boolean;
  organizationId: string | null;
  name: string;
  settings: {
    kind: (typeof KINDS)[number];
    percents: string[];
    budgetId: string;
    percent: number | null;
    minutes: number | null;
    minRequests: number | null;
    seconds: number | null;
    severity: (typeof SEVERITIES)[number];
  };
  emails: string[];
  usesWebhooks: boolean;
}

const DEFAULTS: AlertValues["settings"] = {
  kind: "budget",
  percents: ["80", "100"],
  budgetId: ALL_BUDGETS,
  percent: 5,
  minutes: 10,
  minRequests: 20,
  seconds: 60,
  severity: "critical",
};

function valuesOf(view: Alert | null, organizationId: string | null, isOfAll: boolean): AlertValues {
  if (!view)
    return {
      isOfAll,
      organizationId,
      name: "",
      settings: DEFAULTS,
      emails: [],
      usesWebhooks: false,
    };
  const { name, settings, emails, usesWebhooks } = view;
  const own =
    settings.kind === "budget"
      ? { percents: settings.percents.map(String), budgetId: settings.budgetId ?? ALL_BUDGETS }
      : settings;
  return {
    isOfAll: view.organizationId === null,
    organizationId: view.organizationId,
    name,
    settings: { ...DEFAULTS, ...own, kind: settings.kind },
    emails: [...emails],
    usesWebhooks,
  };
}

/** Returns the settings of the chosen kind for the gateway. The gateway refuses a missing number. */
function toSettings({
  kind,
  percents,
  budgetId,
  severity,
  ...numbers
}: AlertValues["settings"]): Input<"alerts.create">["settings"] {
  const { percent, minutes, minRequests, seconds } = numbers as Record<keyof typeof numbers, number>;
  if (kind === "error_rate") return { kind, percent, minutes, minRequests };
  if (kind === "ejection") return { kind, seconds };
  if (kind === "status") return { kind, severity };
  return { kind, percents: percents.map(Number), budgetId: budgetId === ALL_BUDGETS ? null : budgetId };
}
