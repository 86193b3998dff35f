import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Budgets } from "./budgets.tsx";
import { LeasesInDoubt } from "./leases.tsx";
import { LimitsTable } from "./limits-table.tsx";

export default function MoneyPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("nav.money")} tabs={<AreaTabs area="money" />}>
      <LeasesInDoubt />
      <Budgets />
      <LimitsTable />
    </Page>
  );
}
