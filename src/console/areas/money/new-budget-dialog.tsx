import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useKeyOptions } from "../../api/options.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { OrganizationField, SelectField } from "../../ui/forms/select-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { requireAmount } from "../../ui/text/amount.ts";

interface NewBudgetDialogProps {
  organizationId: string | null;
  keyId: string | null;
  isOpen: boolean;
  onClose(): void;
}

/** Value of the option for the whole organization, in the list that also has the organization's keys. */
const WHOLE = "*";
const PERIODS = ["month", "day", "total"] as const;

interface BudgetValues {
  organizationId: string | null;
  keyId: string;
  amount: string;
  period: (typeof PERIODS)[number];
}

export function NewBudgetDialog({ organizationId, keyId, isOpen, onClose }: NewBudgetDialogProps) {
  const { t } = useTranslation("money");
  const form = useForm<BudgetValues>({
    values: {
      organizationId,
      keyId: keyId ?? WHOLE,
      amount: "",
      period: "month",
    },
  });
  const chosen = useWatch({ control: form.control, name: "organizationId" });
  const create = useOperationMutation("budgets.create", ["budgets", "keys", "overview"]);
  return (
    <FormDialog
      title={t("budget.form.title")}
      form={form}
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("budget.form.submit")}
      onSubmit={async ({ organizationId, keyId, amount, period }) => {
        requireAmount(amount, "amount", t("budget.form.amount.wrong"));
        await create.mutateAsync({
          organizationId: organizationId ?? "",
          keyId: keyId === WHOLE ? null : keyId,
          amount,
          period,
        });
        showToast(t("budget.created"));
      }}
    >
      <OrganizationField name="organizationId" label={t("budget.form.organization")} isRequired />
      {chosen !== null && <BoundFields organizationId={chosen} />}
    </FormDialog>
  );
}

function BoundFields({ organizationId }: { organizationId: string }) {
  const { t } = useTranslation("money");
  const keys = useKeyOptions(organizationId);
  const organization = useOperationQuery("organizations.get", { id: organizationId });
  const currency = organization.data?.currency ?? "";
  return (
    <>
      <SelectField
        name="keyId"
        label={t("budget.form.for")}
        options={[{ id: WHOLE, label: t("budget.whole") }, ...keys]}
      />
      <MoneyField
        name="amount"
        label={t("budget.form.amount")}
        help={t("budget.form.amount.help", { currency })}
        currency={currency}
        isRequired
      />
      <SelectField
        name="period"
        label={t("budget.period")}
        help={t("budget.form.period.help")}
        options={PERIODS.map((id) => ({ id, label: t(`period.${id}`) }))}
      />
    </>
  );
}
