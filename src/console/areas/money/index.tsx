import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { After } from "../../ui/page/after.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Budgets, useBudgets } from "./budgets.tsx";
import { LeasesInDoubt } from "./leases.tsx";
import { LimitsTable } from "./limits-table.tsx";

export default function MoneyPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("nav.money")} tabs={<AreaTabs area="money" />}>
      <LeasesInDoubt />
      <Budgets />
      <After list={useBudgets()}>
        <LimitsTable />
      </After>
    </Page>
  );
}
