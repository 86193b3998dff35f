import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { call } from "../../api/call.ts";
import { queryClient, sessionQuery } from "../../api/queries.ts";
import { endRenewal } from "../../api/session-end.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import type { SignInFields, SignedInMember } from "./sign-in.ts";
import { CodeStep, PasswordStep } from "./steps.tsx";

/**
 * Asks the member to sign in, in a dialog over the page, so that no input is lost. The calls that found no session are
 * then repeated.
 */
export function SessionDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation("signIn");
  const [before] = useState(() => queryClient.getQueryData(sessionQuery.queryKey));
  const [credentials, setCredentials] = useState<SignInFields | null>(null);
  const onSignedIn = async (member: SignedInMember) => {
    // The page is reloaded for a different member, and for a member who must first choose a new password.
    if (member.mustChangePassword || (before && before.id !== member.id)) return location.reload();
    queryClient.setQueryData(sessionQuery.queryKey, member);
    endRenewal();
    onClose();
  };
  useEffect(() => {
    // The member may have signed in in another tab, for example at an identity provider.
    const look = () => void call("session.get", {}).then(onSignedIn, () => {});
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  });
  return (
    <Dialog
      title={t("ended")}
      isOpen
      onClose={onClose}
      size="s"
      isAlert
      isHeld
      footer={<Button onPress={() => location.reload()}>{t("ended.leave")}</Button>}
    >
      <div className="flex flex-col gap-4 pb-3">
        <p className="text-muted">{t("ended.about")}</p>
        {credentials ? (
          <CodeStep credentials={credentials} onSignedIn={onSignedIn} onBack={() => setCredentials(null)} />
        ) : (
          <PasswordStep
            onSignedIn={onSignedIn}
            onCodeNeeded={setCredentials}
            name={before?.name}
            isOverPage
          />
        )}
      </div>
    </Dialog>
  );
}
