import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function JobPage() {
  const { t } = useTranslation();
  return <Page title={t("nav.jobs")}>{null}</Page>;
}
