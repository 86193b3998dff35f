import { useTranslation } from "react-i18next";
import type { Channel } from "./channel-values.ts";

/** Whether there is a credential, and its end where that may be shown. */
export function CredentialState({
  channel: { hasCredential, credentialEnd },
}: {
  channel: Pick<Channel, "hasCredential" | "credentialEnd">;
}) {
  const { t } = useTranslation("providers");
  if (!hasCredential) return <span className="text-muted">{t("credential.none")}</span>;
  return credentialEnd === null ? t("credential.hidden") : t("credential.set", { end: credentialEnd });
}
