import { useTranslation } from "react-i18next";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { formatMoney } from "../../ui/text/format.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { ALL_BUDGETS, type AlertValues } from "./alert-values.ts";

interface RuleFieldsProps {
  kind: AlertValues["settings"]["kind"];
  organizationId: string | null;
}

/** The fields of one kind of rule. */
export function RuleFields({ kind, organizationId }: RuleFieldsProps) {
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
  const budgets = useOperationQuery("budgets.list", organizationId === null ? {} : { organizationId });
  const options = (budgets.data?.data ?? [])
    .filter((budget) => budget.organizationId === organizationId)
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
