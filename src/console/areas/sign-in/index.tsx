import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { parseSearch, useFilters } from "../../address.ts";
import { call } from "../../api/call.ts";
import { queryClient, sessionQuery } from "../../api/queries.ts";
import { LanguageSwitch } from "../../shell/language-switch.tsx";
import { Mark } from "../../shell/mark.tsx";
import { Problem } from "../../ui/forms/form-problem.tsx";
import { useDocumentTitle } from "../../ui/page/page.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import type { SignInFields, SignedInMember } from "./sign-in.ts";
import { CodeStep, NewPasswordStep, PasswordStep } from "./steps.tsx";

/** The reasons why signing in at the provider failed. */
const PROBLEMS = ["oidc_unavailable", "oidc_failed", "oidc_refused"] as const;

type Step = "password" | "code" | "newPassword";

/** The sign-in page. It asks for the password, then for a code or a new password if the account needs them. */
export default function SignInPage() {
  const { t } = useTranslation("signIn");
  const navigate = useNavigate();
  const { filters } = useFilters();
  const known = queryClient.getQueryData(sessionQuery.queryKey);
  const [step, setStep] = useState<Step>(known?.mustChangePassword ? "newPassword" : "password");
  const [credentials, setCredentials] = useState<SignInFields | null>(null);
  const problem = PROBLEMS.find((known) => known === filters["problem"]);
  useDocumentTitle(t("title"));
  const enter = async () => {
    queryClient.clear();
    const [path = "/", query = ""] = (filters["next"] ?? "/").split("?");
    await navigate({ to: path.startsWith("/") ? path : "/", search: parseSearch(query) });
  };
  useExistingSession(({ mustChangePassword }) => (mustChangePassword ? setStep("newPassword") : enter()));
  const onSignedIn = async ({ mustChangePassword }: SignedInMember, used: SignInFields) => {
    setCredentials(used);
    if (mustChangePassword) setStep("newPassword");
    else await enter();
  };
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 pt-[14vh] pb-8">
      <div className="flex w-full max-w-sm flex-1 flex-col gap-6">
        <div className="flex items-center gap-2.5">
          <Mark />
          <h1 className="text-xl font-semibold tracking-tight">{t(`${step}.heading`)}</h1>
        </div>
        {problem !== undefined && step === "password" && <Problem>{t(problem)}</Problem>}
        {step === "password" && (
          <PasswordStep
            onSignedIn={onSignedIn}
            onCodeNeeded={(given) => {
              setCredentials(given);
              setStep("code");
            }}
          />
        )}
        {step === "code" && credentials && (
          <CodeStep credentials={credentials} onSignedIn={onSignedIn} onBack={() => setStep("password")} />
        )}
        {step === "newPassword" && (
          <NewPasswordStep current={credentials?.password ?? null} onChanged={enter} />
        )}
        {step === "password" && (
          <div className="flex flex-col gap-2 text-muted">
            <p>
              {t("haveKey")} <TextLink to="/key">{t("haveKey.link")}</TextLink>
            </p>
            <p>
              {t("forgotten")} <code className="text-xs">npm start -- members reset-password NAME</code>
            </p>
          </div>
        )}
      </div>
      <LanguageSwitch />
    </main>
  );
}

/** Calls `onFound` if there is a session already, for example after an outage. */
function useExistingSession(onFound: (member: SignedInMember) => unknown): void {
  const found = useRef(onFound);
  useEffect(() => {
    void call("session.get", {}).then(
      (member) => found.current(member),
      () => {},
    );
  }, []);
}
