import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function RequestPage() {
  const { t } = useTranslation();
  return <Page title={t("nav.requests")}>{null}</Page>;
}
