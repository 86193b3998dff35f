import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { useActing } from "../../api/queries.ts";

const EMPTY = { current: "", next: "" };

export function PasswordCard() {
  const { t } = useTranslation("account");
  const form = useForm({ defaultValues: EMPTY });
  const change = useActing("password.change", ["sessions"]);
  const submit = async (values: typeof EMPTY) => {
    await change.mutateAsync(values);
    form.reset(EMPTY);
    showToast(t("password.changed"));
  };
  return (
    <Card title={t("password")} about={t("password.about")}>
      <Form form={form} onSubmit={submit} submitLabel={t("password.submit")}>
        <TextField
          name="current"
          label={t("password.current")}
          type="password"
          autoComplete="current-password"
          isRequired
        />
        <TextField
          name="next"
          label={t("password.next")}
          help={t("password.help")}
          type="password"
          autoComplete="new-password"
          isRequired
        />
      </Form>
    </Card>
  );
}
