import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { MoneyField } from "../../components/fields/money-field.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { showToast } from "../../components/toast.tsx";
import { requireAmount } from "../../lib/amount.ts";
import { formatMoney } from "../../lib/format.ts";
import { useActing } from "../../lib/queries.ts";
import type { Budget } from "./views.ts";

interface ChangeBudgetDialogProps {
  budget: Budget;
  isOpen: boolean;
  onClose(): void;
}

export function ChangeBudgetDialog({ budget, isOpen, onClose }: ChangeBudgetDialogProps) {
  const { t } = useTranslation("money");
  const { id, amount, spent, currency, version } = budget;
  const form = useForm({ values: { amount } });
  const update = useActing("budgets.update", ["budgets", "keys", "overview"]);
  return (
    <FormDialog
      title={t("budget.change.title")}
      form={form}
      size="s"
      isOpen={isOpen}
      onClose={onClose}
      onSubmit={async (values) => {
        requireAmount(values.amount, "amount", t("budget.form.amount.wrong"));
        await update.mutateAsync({ id, version, amount: values.amount });
        showToast(t("budget.changed"));
      }}
    >
      <p className="text-muted">{t("budget.change.what", { spent: formatMoney(spent, currency) })}</p>
      <MoneyField
        name="amount"
        label={t("budget.form.amount")}
        help={t("budget.form.amount.help", { currency })}
        currency={currency}
        isRequired
      />
    </FormDialog>
  );
}
