import { useTranslation } from "react-i18next";
import { formatShare } from "../../ui/text/format.ts";
import type { Alert } from "./views.ts";

/** What a rule says, in words. */
export function useAlertWords() {
  const { t } = useTranslation("alerts");
  const share = (percent: number) => formatShare(percent / 100);
  return {
    when(settings: Alert["settings"]): string {
      if (settings.kind === "budget")
        return t("when.budget", { percents: settings.percents.map(share).join(", ") });
      if (settings.kind === "ejection") return t("when.ejection", { seconds: settings.seconds });
      return t("when.error_rate", { percent: share(settings.percent), minutes: settings.minutes });
    },
    notified({ emails, usesWebhooks }: Alert): string {
      const ways = [
        ...(emails.length > 0 ? [t("notified.mails", { count: emails.length })] : []),
        ...(usesWebhooks ? [t("notified.webhooks")] : []),
      ];
      return ways.length === 0 ? t("notified.nobody") : ways.join(", ");
    },
  };
}
