import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { call, send } from "../../api/call.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { isWrong, needsCode, signIn, type SignInFields, type SignedInMember } from "./sign-in.ts";
import { StepForm } from "./step-form.tsx";

interface SignInWays {
  password: boolean;
  oidc: { label: string } | null;
}

export function PasswordStep({
  onSignedIn,
  onCodeNeeded,
  name: known = "",
  isOverPage = false,
}: {
  onSignedIn(member: SignedInMember, used: SignInFields): Promise<void>;
  onCodeNeeded(given: SignInFields): void;
  /** The member's name, if it is already known. */
  name?: string | undefined;
  /** True when the page behind the dialog must stay open. An identity provider then opens in a new tab. */
  isOverPage?: boolean;
}) {
  const { t } = useTranslation("signIn");
  const form = useForm<SignInFields>({ defaultValues: { name: known, password: "" } });
  const ways = useQuery({
    queryKey: ["signIn"],
    queryFn: ({ signal }) => send<SignInWays>("GET", "/sign-in", undefined, signal),
    retry: false,
  });
  const submit = async ({ name, password }: SignInFields) => {
    const given = { name, password };
    try {
      await onSignedIn(await signIn(given), given);
    } catch (error) {
      if (isWrong(error)) throw new Error(t("wrong"), { cause: error });
      if (!needsCode(error)) throw error;
      onCodeNeeded(given);
    }
  };
  return (
    <>
      {ways.data?.password !== false && (
        <StepForm form={form} onSubmit={submit} submitLabel={t("submit")}>
          <TextField
            name="name"
            label={t("name")}
            autoComplete="username"
            isRequired
            autoFocus={known === ""}
          />
          <TextField
            name="password"
            label={t("password")}
            type="password"
            autoComplete="current-password"
            isRequired
            autoFocus={known !== ""}
          />
        </StepForm>
      )}
      {ways.data?.oidc && <ProviderLink label={ways.data.oidc.label} isOverPage={isOverPage} />}
    </>
  );
}

/** A plain link. The router's link is not used, because signing in at a provider leaves the page. */
function ProviderLink({ label, isOverPage }: { label: string; isOverPage: boolean }) {
  const { t } = useTranslation("signIn");
  const { filters } = useFilters();
  const next = filters["next"] ?? "/";
  return (
    <a
      href={`/console/oidc/start?${new URLSearchParams({ next })}`}
      {...(isOverPage && { target: "_blank" })}
      className={`${buttonClass("plain")} w-full`}
    >
      {t("with", { provider: label })}
    </a>
  );
}

/** Asks for the authenticator's code, or for a recovery code instead. */
export function CodeStep({
  credentials,
  onSignedIn,
  onBack,
}: {
  credentials: SignInFields;
  onSignedIn(member: SignedInMember, used: SignInFields): Promise<void>;
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

/**
 * Asks for a new password that replaces a generated password. If `current` is null, asks for the generated password
 * too.
 */
export function NewPasswordStep({
  current,
  onChanged,
}: {
  current: string | null;
  onChanged(): Promise<void>;
}) {
  const { t } = useTranslation("signIn");
  const form = useForm({ defaultValues: { current: current ?? "", next: "" } });
  const submit = async (values: { current: string; next: string }) => {
    await call("password.change", values);
    await onChanged();
  };
  return (
    <>
      <p className="text-muted">{t("newPassword.about")}</p>
      <StepForm form={form} onSubmit={submit} submitLabel={t("newPassword.submit")}>
        {current === null && (
          <TextField
            name="current"
            label={t("currentPassword")}
            type="password"
            autoComplete="current-password"
            isRequired
          />
        )}
        <TextField
          name="next"
          label={t("newPassword")}
          help={t("newPassword.help")}
          type="password"
          autoComplete="new-password"
          isRequired
          autoFocus
        />
      </StepForm>
    </>
  );
}
