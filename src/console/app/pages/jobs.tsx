import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function JobsPage() {
  const { t } = useTranslation();
  return <Page title={t("nav.jobs")}>{null}</Page>;
}
