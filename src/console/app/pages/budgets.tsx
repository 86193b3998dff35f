import { useTranslation } from "react-i18next";
import { AreaTabs } from "../components/area-tabs.tsx";
import { Page } from "../components/page.tsx";

export default function BudgetsPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("nav.money")} tabs={<AreaTabs area="money" />}>
      {null}
    </Page>
  );
}
