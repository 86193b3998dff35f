import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { TextField } from "../../ui/forms/text-field.tsx";
import { call } from "../../api/call.ts";
import { StepForm } from "./step-form.tsx";

/** Asks for a new password in place of a generated one. `current` is null where it is not known. */
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
