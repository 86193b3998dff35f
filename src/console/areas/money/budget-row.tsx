import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { MAX_PAGE, useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { BudgetBar, NEARLY_SPENT, shareOf } from "../../ui/chart/budget-bar.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { requireAmount, subtract } from "../../ui/text/amount.ts";
import { formatItemCount, formatMoney } from "../../ui/text/format.ts";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { Budget } from "./views.ts";

/** Shows one budget: its owner, how much of it is used, and its forecast. */
export function BudgetRow({ budget }: { budget: Budget }) {
  const { t } = useTranslation("money");
  return (
    <li className="flex flex-col gap-3 px-4 py-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <BudgetName budget={budget} />
        <BudgetState budget={budget} />
        <span className="ml-auto text-muted">
          {t(`period.${budget.period}`)}
          {budget.periodEnd !== null && (
            <>
              {" · "}
              {t("budget.until")} <Time at={budget.periodEnd} />
            </>
          )}
        </span>
        <BudgetActions budget={budget} />
      </div>
      <BudgetBar budget={budget} />
      <Figures budget={budget} />
    </li>
  );
}

function BudgetName({ budget }: { budget: Budget }) {
  const { t } = useTranslation("money");
  const organization = useOrganizationOptions().find(({ id }) => id === budget.organizationId);
  return (
    <span className="min-w-0">
      {budget.keyId === null ? (
        <span className="font-medium">{t("budget.whole")}</span>
      ) : (
        <TextLink to="/keys/$id" params={{ id: budget.keyId }}>
          {t("budget.ofKey", { name: budget.keyName ?? budget.keyId })}
        </TextLink>
      )}
      <span className="ml-2 text-muted">{organization?.label ?? budget.organizationId}</span>
    </span>
  );
}

function BudgetState({ budget }: { budget: Budget }) {
  const { t } = useTranslation("money");
  const share = shareOf(budget.spent, Number(budget.amount));
  if (share >= 1) return <Status level="bad">{t("budget.exhausted")}</Status>;
  if (share >= NEARLY_SPENT) return <Status level="warn">{t("budget.nearly")}</Status>;
  if (budget.forecast === null) return null;
  const isOver = Number(budget.forecast) > Number(budget.amount);
  return (
    <Status level={isOver ? "warn" : "good"}>
      {t(isOver ? "budget.forecast.over" : "budget.forecast.within")}
    </Status>
  );
}

function Figures({ budget }: { budget: Budget }) {
  const { t } = useTranslation("money");
  const { amount, spent, held, forecast, currency } = budget;
  const left = subtract(subtract(amount, spent), held);
  const figures = [
    { label: t("budget.spent"), value: spent },
    { label: t("budget.held"), value: held },
    { label: t("budget.left"), value: left },
    { label: t("budget.form.amount"), value: amount },
    ...(forecast === null ? [] : [{ label: t("budget.forecast"), value: forecast }]),
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-3 lg:grid-cols-5">
      {figures.map(({ label, value }) => (
        <div key={label}>
          <dt className="text-xs text-muted">{label}</dt>
          <dd>
            <Money amount={value} currency={currency} isShort />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function BudgetActions({ budget }: { budget: Budget }) {
  const { t } = useTranslation("money");
  const can = useCan();
  const [open, setOpen] = useState<"change" | "remove" | null>(null);
  const close = () => setOpen(null);
  if (!can("billing")) return null;
  return (
    <>
      <ActionMenu
        actions={[
          { label: t("budget.change"), icon: Pencil, onAction: () => setOpen("change") },
          { label: t("budget.remove"), icon: Trash2, isDangerous: true, onAction: () => setOpen("remove") },
        ]}
      />
      <ChangeBudgetDialog budget={budget} isOpen={open === "change"} onClose={close} />
      {open === "remove" && <RemoveBudgetDialog budget={budget} onClose={close} />}
    </>
  );
}

interface ChangeBudgetDialogProps {
  budget: Budget;
  isOpen: boolean;
  onClose(): void;
}

function ChangeBudgetDialog({ budget, isOpen, onClose }: ChangeBudgetDialogProps) {
  const { t } = useTranslation("money");
  const { id, amount, spent, currency, version } = budget;
  const form = useViewForm({ amount });
  const update = useOperationMutation("budgets.update", ["budgets", "keys", "overview"]);
  return (
    <FormDialog
      title={t("budget.change.title")}
      form={form}
      subject={{ kind: "budget", id, version }}
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

/**
 * Asks for confirmation before a budget is removed. A removed budget no longer stops requests. Shows what is left of
 * the budget, and how many other budgets the organization has.
 */
function RemoveBudgetDialog({ budget, onClose }: { budget: Budget; onClose(): void }) {
  const { t } = useTranslation("money");
  const remove = useOperationMutation("budgets.remove", ["budgets", "keys", "overview"]);
  const { id, amount, spent, currency, organizationId } = budget;
  const { data: all } = useOperationQuery("budgets.list", { organizationId, limit: MAX_PAGE });
  const others = all && { ...all, data: all.data.filter((other) => other.id !== id) };
  const left = formatMoney(subtract(amount, spent), currency);
  return (
    <ConfirmDialog
      title={t("budget.remove.title")}
      consequences={
        <>
          <p>{t("budget.remove.what", { left, amount: formatMoney(amount, currency) })}</p>
          {others && (
            <p className="mt-2 text-text">{t("budget.remove.others", { count: formatItemCount(others) })}</p>
          )}
        </>
      }
      confirmLabel={t("budget.remove")}
      isOpen
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ id });
        showToast(t("budget.removed"));
      }}
    />
  );
}
