import { useTranslation } from "react-i18next";
import { AreaTabs } from "../components/area-tabs.tsx";
import { Page } from "../components/page.tsx";

export default function GalleryPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("nav.images")} tabs={<AreaTabs area="images" />}>
      {null}
    </Page>
  );
}
