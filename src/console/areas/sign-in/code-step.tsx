import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { signIn, type Credentials, type SignedInMember } from "./sign-in.ts";
import { StepForm } from "./step-form.tsx";

/** The code of the authenticator, or a recovery code in its place. */
export function CodeStep({
  credentials,
  onSignedIn,
  onBack,
}: {
  credentials: Credentials;
  onSignedIn(member: SignedInMember, used: Credentials): Promise<void>;
  onBack(): void;
}) {
  const { t } = useTranslation("signIn");
  const [isRecovery, setRecovery] = useState(false);
  const form = useForm({ defaultValues: { code: "" } });
  const submit = async ({ code }: { code: string }) => {
    const given = { ...credentials, code: code.trim() };
    await onSignedIn(await signIn(given), given);
  };
  return (
    <>
      <StepForm form={form} onSubmit={submit} submitLabel={t("submit")}>
        <TextField
          key={String(isRecovery)}
          name="code"
          label={isRecovery ? t("recoveryCode") : t("code")}
          help={isRecovery ? t("recoveryCode.help") : t("code.help")}
          inputMode={isRecovery ? "text" : "numeric"}
          autoComplete="one-time-code"
          isMono
          isRequired
          autoFocus
        />
      </StepForm>
      <div className="flex flex-wrap justify-between gap-2">
        <Button kind="quiet" onPress={onBack}>
          {t("back")}
        </Button>
        <Button kind="quiet" onPress={() => setRecovery(!isRecovery)}>
          {isRecovery ? t("useCode") : t("useRecoveryCode")}
        </Button>
      </div>
    </>
  );
}
