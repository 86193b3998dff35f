import { useTranslation } from "react-i18next";
import { Progress } from "../../ui/chart/progress.tsx";
import { Card } from "../../ui/page/card.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { SpentOf } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { OwnBudget, OwnLimit } from "./own-usage.ts";

/** Shows the budgets and the limits per minute that apply to the key, its organization's included. */
export function BudgetsAndLimits({
  budgets,
  limits,
}: {
  budgets: readonly OwnBudget[];
  limits: readonly OwnLimit[];
}) {
  const { t } = useTranslation("ownKey");
  return (
    <div className="grid items-start gap-4 md:grid-cols-2">
      <Card title={t("budgets")}>
        {budgets.length === 0 ? (
          <p className="text-muted">{t("budgets.none")}</p>
        ) : (
          <ul className="flex flex-col gap-4">
            {budgets.map((budget) => (
              <BudgetBar key={`${budget.scope} ${budget.period}`} budget={budget} />
            ))}
          </ul>
        )}
      </Card>
      <Card title={t("limits")}>
        {limits.length === 0 ? (
          <p className="text-muted">{t("limits.none")}</p>
        ) : (
          <ul className="flex flex-col gap-4">
            {limits.map(({ scope, quantity, limit, remaining }) => (
              <li key={`${scope} ${quantity}`} className="flex flex-col gap-1.5">
                <div className="flex items-baseline gap-3">
                  <span className="flex-1">
                    {t(`limit.${quantity}`)} <span className="text-xs text-muted">{t(`scope.${scope}`)}</span>
                  </span>
                  <span>{t("limits.left", { left: formatCount(remaining), limit: formatCount(limit) })}</span>
                </div>
                <Progress label={t(`limit.${quantity}`)} share={limit > 0 ? 1 - remaining / limit : 1} />
              </li>
            ))}
          </ul>
        )}
      </Card>
    </div>
  );
}

function BudgetBar({ budget }: { budget: OwnBudget }) {
  const { t } = useTranslation("ownKey");
  const { scope, period, amount, spent, currency, period_end: end } = budget;
  const whole = Number(amount);
  return (
    <li className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="flex-1">
          {t(`period.${period}`)} <span className="text-xs text-muted">{t(`scope.${scope}`)}</span>
        </span>
        <SpentOf spent={spent} amount={amount} currency={currency} />
      </div>
      <Progress label={t(`period.${period}`)} share={whole > 0 ? Number(spent) / whole : 1} />
      {end !== null && (
        <p className="text-xs text-muted">
          {t("budgets.until")} <Time at={end} />
        </p>
      )}
    </li>
  );
}
