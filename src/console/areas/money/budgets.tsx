import { Wallet } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { FailedState } from "../../ui/page/failed-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { BudgetRow } from "./budget-row.tsx";
import { NewBudgetDialog } from "./new-budget-dialog.tsx";

/** Lists the budgets of the current organization, or of all organizations. */
export function Budgets() {
  const { t } = useTranslation(["money", "shell"]);
  const can = useCan();
  const { filters, change } = useFilters();
  const { id } = useOrganization();
  const keyId = filters["key"];
  const list = useBudgets();
  const create = can("billing") && (
    <Button kind="primary" onPress={() => change({ new: "budget" })}>
      {t("budgets.create")}
    </Button>
  );
  const { rows } = list;
  return (
    <Card title={t("budgets.title")} about={t("budgets.intro")} actions={create} isFlush>
      {rows === undefined && list.error && (
        <FailedState error={list.error} at={list.failedAt} onRetry={list.retry} />
      )}
      {rows === undefined && !list.error && <LoadingRows />}
      {rows?.length === 0 && <EmptyState icon={Wallet}>{t("budgets.empty")}</EmptyState>}
      <ul className="divide-y divide-line border-line not-empty:border-t">
        {rows?.map((budget) => (
          <BudgetRow key={budget.id} budget={budget} />
        ))}
      </ul>
      {list.hasMore && (
        <div className="flex justify-center border-t border-line p-3">
          <Button kind="quiet" onPress={list.readMore} isPending={list.isReadingMore}>
            {t("shell:more")}
          </Button>
        </div>
      )}
      <NewBudgetDialog
        key={filters["new"] ?? ""}
        isOpen={filters["new"] === "budget"}
        organizationId={id}
        keyId={keyId ?? null}
        onClose={() => change({ new: undefined }, { goesOn: true })}
      />
    </Card>
  );
}

export function useBudgets() {
  const { key } = useFilters().filters;
  const { id } = useOrganization();
  return useList("budgets.list", {
    ...(id !== null && { organizationId: id }),
    ...(key !== undefined && { keyId: key }),
    limit: 100,
  });
}

function LoadingRows() {
  return (
    <div aria-hidden className="flex flex-col gap-6 border-t border-line p-4">
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-12 w-full" />
    </div>
  );
}
