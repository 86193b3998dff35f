import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function KeysPage() {
  const { t } = useTranslation();
  return <Page title={t("nav.keys")}>{null}</Page>;
}
