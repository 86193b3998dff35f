import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useOperationMutation } from "../../api/queries.ts";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { requireAmount, subtract } from "../../ui/text/amount.ts";
import { formatMoney } from "../../ui/text/format.ts";
import type { ChargeView } from "./views.ts";

interface RefundDialogProps {
  view: ChargeView;
  isOpen: boolean;
  onClose(): void;
}

/** Refunds what is left of a charge, or part of it, with a reason. */
export function RefundDialog({ view: { charge, net }, isOpen, onClose }: RefundDialogProps) {
  const { t } = useTranslation("money");
  const { currency } = charge;
  const form = useForm({ defaultValues: { amount: "", reason: "" } });
  const refund = useOperationMutation("ledger.refund", [
    "ledger",
    "requests",
    "budgets",
    "usage",
    "overview",
  ]);
  return (
    <FormDialog
      title={t("refund.title")}
      form={form}
      size="s"
      isOpen={isOpen}
      onClose={onClose}
      submitLabel={t("refund.submit")}
      onSubmit={async ({ amount, reason }) => {
        if (amount !== "") requireAmount(amount, "amount", t("budget.form.amount.wrong"));
        const entry = await refund.mutateAsync({ id: charge.id, reason, ...(amount !== "" && { amount }) });
        const refunded = formatMoney(subtract("0", entry.amount), currency);
        showToast(t("refund.done", { amount: refunded }));
      }}
    >
      <p className="text-muted">{t("refund.what", { left: formatMoney(net, currency) })}</p>
      <MoneyField
        name="amount"
        label={t("refund.amount")}
        help={t("refund.amount.help")}
        currency={currency}
      />
      <TextField name="reason" label={t("refund.reason")} help={t("refund.reason.help")} isRequired />
    </FormDialog>
  );
}
