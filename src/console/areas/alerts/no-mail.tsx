import { useTranslation } from "react-i18next";
import { useOperationQuery } from "../../api/queries.ts";
import { Status } from "../../ui/text/status.tsx";

/** True when a mail server is configured, so that alerts can send mail. Null while this is unknown. */
export function useHasMail(): boolean | null {
  return useOperationQuery("alerts.list", { limit: 1 }).data?.hasMail ?? null;
}

export function NoMail() {
  const { t } = useTranslation("alerts");
  return <Status level="warn">{t("noMail")}</Status>;
}
