import { useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { buttonClass } from "../../ui/forms/button.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { send } from "../../api/call.ts";
import { useFilters } from "../../address.ts";
import { needsCode, signIn, type Credentials, type SignedInMember } from "./sign-in.ts";
import { StepForm } from "./step-form.tsx";

interface SignInWays {
  password: boolean;
  oidc: { label: string } | null;
}

export function PasswordStep({
  onSignedIn,
  onCodeNeeded,
}: {
  onSignedIn(member: SignedInMember, used: Credentials): Promise<void>;
  onCodeNeeded(given: Credentials): void;
}) {
  const { t } = useTranslation("signIn");
  const form = useForm<Credentials>({ defaultValues: { name: "", password: "" } });
  const ways = useQuery({
    queryKey: ["signIn"],
    queryFn: ({ signal }) => send<SignInWays>("GET", "/sign-in", undefined, signal),
    retry: false,
  });
  const submit = async ({ name, password }: Credentials) => {
    const given = { name, password };
    try {
      await onSignedIn(await signIn(given), given);
    } catch (error) {
      if (!needsCode(error)) throw error;
      onCodeNeeded(given);
    }
  };
  return (
    <>
      {ways.data?.password !== false && (
        <StepForm form={form} onSubmit={submit} submitLabel={t("submit")}>
          <TextField name="name" label={t("name")} autoComplete="username" isRequired autoFocus />
          <TextField
            name="password"
            label={t("password")}
            type="password"
            autoComplete="current-password"
            isRequired
          />
        </StepForm>
      )}
      {ways.data?.oidc && <ProviderLink label={ways.data.oidc.label} />}
    </>
  );
}

/** Signing in elsewhere leaves the page, so this is a plain link and none of the router. */
function ProviderLink({ label }: { label: string }) {
  const { t } = useTranslation("signIn");
  const { filters } = useFilters();
  const next = filters["next"] ?? "/";
  return (
    <a
      href={`/console/oidc/start?${new URLSearchParams({ next })}`}
      className={`${buttonClass("plain")} w-full`}
    >
      {t("with", { provider: label })}
    </a>
  );
}
