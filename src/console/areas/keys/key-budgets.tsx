import { useTranslation } from "react-i18next";
import { BudgetBar } from "../../ui/chart/budget-bar.tsx";
import { Card } from "../../ui/page/card.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { ReadingState } from "../../ui/page/reading-state.tsx";
import { SpentOf } from "../../ui/text/spent-of.tsx";
import { useReading } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import type { Key } from "./key-view.tsx";

/** The budgets of a key alone; those of its organization hold as well. */
export function KeyBudgets({ view }: { view: Key }) {
  const { t } = useTranslation(["keys", "money"]);
  const can = useCan();
  const budgets = useReading("budgets.list", { organizationId: view.organizationId, keyId: view.id });
  return (
    <Card
      title={t("column.budget")}
      actions={
        can("billing") && (
          <TextLink to="/money" search={{ new: "budget", organization: view.organizationId, key: view.id }}>
            {t("detail.budget.add")}
          </TextLink>
        )
      }
    >
      <ReadingState query={budgets}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-muted">{t("detail.budget.none")}</p>
          ) : (
            <ul className="flex flex-col gap-4">
              {data.map((budget) => (
                <li key={budget.id} className="flex flex-col gap-2">
                  <p className="flex flex-wrap justify-between gap-2">
                    <SpentOf {...budget} />
                    <span className="text-muted">{t(`money:period.${budget.period}`)}</span>
                  </p>
                  <BudgetBar budget={budget} />
                </li>
              ))}
            </ul>
          )
        }
      </ReadingState>
    </Card>
  );
}
