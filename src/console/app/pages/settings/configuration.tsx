import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../components/area-tabs.tsx";
import { Page } from "../../components/page.tsx";

export default function ConfigurationPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("nav.settings")} tabs={<AreaTabs area="settings" />}>
      {null}
    </Page>
  );
}
