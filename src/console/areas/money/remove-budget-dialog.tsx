import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { subtract } from "../../ui/text/amount.ts";
import { formatMoney } from "../../ui/text/format.ts";
import { useActing } from "../../api/queries.ts";
import type { Budget } from "./views.ts";

interface RemoveBudgetDialogProps {
  budget: Budget;
  all: readonly Budget[];
  isOpen: boolean;
  onClose(): void;
}

/** Asks before a hard stop is lifted, with what it still leaves and what else holds. */
export function RemoveBudgetDialog({ budget, all, isOpen, onClose }: RemoveBudgetDialogProps) {
  const { t } = useTranslation("money");
  const remove = useActing("budgets.remove", ["budgets", "keys", "overview"]);
  const { id, amount, spent, currency, organizationId } = budget;
  const others = all.filter((other) => other.organizationId === organizationId && other.id !== id);
  const left = formatMoney(subtract(amount, spent), currency);
  return (
    <ConfirmDialog
      title={t("budget.remove.title")}
      consequences={
        <>
          <p>{t("budget.remove.what", { left, amount: formatMoney(amount, currency) })}</p>
          <p className="mt-2 text-text">{t("budget.remove.others", { count: others.length })}</p>
        </>
      }
      confirmLabel={t("budget.remove")}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ id });
        showToast(t("budget.removed"));
      }}
    />
  );
}
