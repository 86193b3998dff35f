import { useTranslation } from "react-i18next";
import { useOperationQuery } from "../../api/queries.ts";
import { Status } from "../../ui/text/status.tsx";

/** False where no mail server is configured, so that no mail of an alert is sent. */
export function useHasMail(): boolean {
  return useOperationQuery("alerts.list", { limit: 1 }).data?.hasMail ?? true;
}

export function NoMail() {
  const { t } = useTranslation("alerts");
  return <Status level="warn">{t("noMail")}</Status>;
}
