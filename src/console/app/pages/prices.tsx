import { useTranslation } from "react-i18next";
import { AreaTabs } from "../components/area-tabs.tsx";
import { Page } from "../components/page.tsx";

export default function PricesPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("nav.models")} tabs={<AreaTabs area="models" />}>
      {null}
    </Page>
  );
}
