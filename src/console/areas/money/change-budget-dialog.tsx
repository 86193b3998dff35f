import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { requireAmount } from "../../ui/text/amount.ts";
import { formatMoney } from "../../ui/text/format.ts";
import { useActing } from "../../api/queries.ts";
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
