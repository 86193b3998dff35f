import { useTranslation } from "react-i18next";
import { Page } from "../components/page.tsx";

export default function PlaygroundPage() {
  const { t } = useTranslation();
  return <Page title={t("nav.playground")}>{null}</Page>;
}
