import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function OwnKeyPage() {
  const { t } = useTranslation();
  return <Page title={t("ownKey.title")}>{null}</Page>;
}
