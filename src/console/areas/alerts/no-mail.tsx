import { useTranslation } from "react-i18next";
import { useOperationQuery } from "../../api/queries.ts";
import { Status } from "../../ui/text/status.tsx";

/** False when no mail server is configured, so that alerts send no mail. */
export function useHasMail(): boolean {
  return useOperationQuery("alerts.list", { limit: 1 }).data?.hasMail ?? true;
}

export function NoMail() {
  const { t } = useTranslation("alerts");
  return <Status level="warn">{t("noMail")}</Status>;
}
