import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { Progress } from "../../ui/chart/progress.tsx";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { Money, SpentOf } from "../../ui/text/money.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { Overview } from "./overview.ts";

type Budget = Overview["budgets"][number];

/** Shows how much of each budget is spent or held, and its forecast if there is one. */
export function BudgetCard({ budgets }: { budgets: readonly Budget[] }) {
  const { t } = useTranslation("overview");
  return (
    <Card title={t("budgets")} actions={<TextLink to="/money">{t("budgets.all")}</TextLink>}>
      {budgets.length === 0 ? (
        <EmptyState action={<ButtonLink to="/money">{t("checklist.budget")}</ButtonLink>}>
          {t("budgets.none")}
        </EmptyState>
      ) : (
        <ul className="flex flex-col gap-5">
          {budgets.map((budget) => (
            <BudgetBar key={budget.id} budget={budget} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function BudgetBar({ budget }: { budget: Budget }) {
  const { t } = useTranslation("overview");
  const organizations = useOrganizationOptions();
  const { amount, spent, held, currency, forecast, keyName, organizationId, period, lastsUntil } = budget;
  const whole = Number(amount);
  const used = Number(spent) + Number(held);
  const share = whole > 0 ? used / whole : 1;
  const name = keyName ?? organizations.find(({ id }) => id === organizationId)?.label ?? organizationId;
  return (
    <li className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
        <SpentOf spent={spent} amount={amount} currency={currency} />
      </div>
      <Progress
        label={t("budgets.used", { name })}
        share={share}
        {...(forecast !== null && whole > 0 && { forecast: Number(forecast) / whole })}
      />
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <span>{t(`period.${period}`)}</span>
        {forecast !== null && (
          <span>
            {t("budgets.forecast")} <Money amount={forecast} currency={currency} isShort />
          </span>
        )}
        {lastsUntil !== null && (
          <span className="font-medium text-bad">
            {t("budgets.lasts")} <Time at={lastsUntil} />
          </span>
        )}
      </p>
    </li>
  );
}
