import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionMenu } from "../../ui/overlay/action-menu.tsx";
import { BudgetBar } from "../../ui/chart/budget-bar.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { subtract } from "../../ui/text/amount.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useCan } from "../../api/session.ts";
import { ChangeBudgetDialog } from "./change-budget-dialog.tsx";
import { RemoveBudgetDialog } from "./remove-budget-dialog.tsx";
import type { Budget } from "./views.ts";

/** One budget: what it is for, what of it is gone, and whether it will last. */
export function BudgetRow({ budget, all }: { budget: Budget; all: readonly Budget[] }) {
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
        <BudgetActs budget={budget} all={all} />
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
  if (Number(budget.spent) + Number(budget.held) >= Number(budget.amount))
    return <Status level="bad">{t("budget.exhausted")}</Status>;
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

function BudgetActs({ budget, all }: { budget: Budget; all: readonly Budget[] }) {
  const { t } = useTranslation("money");
  const can = useCan();
  const [act, setAct] = useState<"change" | "remove" | null>(null);
  const close = () => setAct(null);
  if (!can("billing")) return null;
  return (
    <>
      <ActionMenu
        actions={[
          { label: t("budget.change"), icon: Pencil, onAction: () => setAct("change") },
          { label: t("budget.remove"), icon: Trash2, isDangerous: true, onAction: () => setAct("remove") },
        ]}
      />
      <ChangeBudgetDialog budget={budget} isOpen={act === "change"} onClose={close} />
      <RemoveBudgetDialog budget={budget} all={all} isOpen={act === "remove"} onClose={close} />
    </>
  );
}
