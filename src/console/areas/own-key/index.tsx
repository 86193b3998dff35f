import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { queryClient } from "../../api/queries.ts";
import { LanguageSwitch } from "../../shell/language-switch.tsx";
import { Mark } from "../../shell/mark.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { useDocumentTitle } from "../../ui/page/page.tsx";
import { StepForm } from "../sign-in/step-form.tsx";
import { KeyView } from "./key-view.tsx";
import { readWithKey, type OwnUsage } from "./own-usage.ts";

/** The page for people with a key but no account: the key's models, prices, limits, budgets, usage and requests. */
export default function OwnKeyPage() {
  const { t } = useTranslation("ownKey");
  const { t: words } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  useDocumentTitle(t("title"));
  const forget = () => {
    setSecret(null);
    queryClient.removeQueries({ queryKey: ["ownKey"] });
  };
  return (
    <div className="mx-auto flex min-h-dvh w-full max-w-6xl flex-col gap-6 px-4 py-6 sm:px-8">
      <header className="flex flex-wrap items-center gap-3">
        <Mark />
        <span className="flex-1 font-semibold">{words("product")}</span>
        <LanguageSwitch />
        {secret !== null && <Button onPress={forget}>{t("forget")}</Button>}
      </header>
      <main className="flex flex-col gap-6">
        {secret === null ? <KeyForm onKey={setSecret} /> : <KeyView secret={secret} />}
      </main>
    </div>
  );
}

/** The form in which the user types the key. The key stays in the memory of this page and is never stored. */
function KeyForm({ onKey }: { onKey(secret: string): void }) {
  const { t } = useTranslation("ownKey");
  const form = useForm({ defaultValues: { secret: "" } });
  const submit = async ({ secret }: { secret: string }) => {
    const given = secret.trim();
    const usage = await readWithKey<OwnUsage>("/v1/usage", given, new AbortController().signal);
    queryClient.setQueryData(["ownKey", "usage"], usage);
    onKey(given);
  };
  return (
    <div className="mx-auto mt-[8vh] flex w-full max-w-sm flex-col gap-6">
      <div className="flex flex-col gap-1">
        <h1 className="text-xl font-semibold tracking-tight">{t("title")}</h1>
        <p className="text-muted">{t("about")}</p>
      </div>
      <StepForm form={form} onSubmit={submit} submitLabel={t("open")}>
        <TextField
          name="secret"
          label={t("secret")}
          help={t("secret.help")}
          type="password"
          isMono
          isRequired
          autoFocus
        />
      </StepForm>
    </div>
  );
}
