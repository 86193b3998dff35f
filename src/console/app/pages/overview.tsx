import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function OverviewPage() {
  const { t } = useTranslation();
  return <Page title={t("nav.overview")}>{null}</Page>;
}
