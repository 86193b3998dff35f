import { useTranslation } from "react-i18next";
import { Quoted } from "../../ui/text/quoted.tsx";
import { Status } from "../../ui/text/status.tsx";
import { ChannelState } from "./channel-state.tsx";
import type { ListedChannel } from "./channel-values.ts";

/** Shows the health of a channel with its reason and its start, or the problems of an unusable channel. */
export function ChannelHealth({ channel: { health, isUsable, problems } }: { channel: ListedChannel }) {
  const { t } = useTranslation(["providers", "shell"]);
  if (!isUsable)
    return (
      <span className="flex flex-wrap items-center gap-2">
        <Status level="bad">{t("health.unusable")}</Status>
        <span className="text-muted">
          <Quoted label={t("shell:problem.configuration")}>{problems.join("; ")}</Quoted>
        </span>
      </span>
    );
  if (health === null) return <Status level="unknown">{t("health.unread")}</Status>;
  return <ChannelState health={health} />;
}

/** Shows whether there is a credential, and its last characters if they may be shown. */
export function CredentialState({
  channel: { hasCredential, credentialEnd },
}: {
  channel: Pick<ListedChannel, "hasCredential" | "credentialEnd">;
}) {
  const { t } = useTranslation("providers");
  if (!hasCredential) return <span className="text-muted">{t("credential.none")}</span>;
  return credentialEnd === null ? t("credential.hidden") : t("credential.set", { end: credentialEnd });
}
