import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useOrganizationOptions } from "../../api/options.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Details } from "../../ui/text/details.tsx";
import { SessionsCard } from "./sessions-card.tsx";
import { TokensCard } from "./tokens-card.tsx";
import { TotpCard } from "./totp-card.tsx";

/** The page of the member's account: password, second factor, sessions, and tokens for programs. */
export default function AccountPage() {
  const { t } = useTranslation("account");
  const { t: words } = useTranslation();
  const { name, email, role, organizations, hasPassword } = useSession();
  const options = useOrganizationOptions();
  const reach =
    organizations === "*"
      ? words("organization.all")
      : organizations.map((id) => options.find((option) => option.id === id)?.label ?? id).join(", ");
  return (
    <Page title={t("title")} tabs={<AreaTabs area="settings" />}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title={name}>
          <Details
            entries={[
              [t("email"), email],
              [t("role"), words(`role.${role}`)],
              [t("organizations"), reach],
            ]}
          />
        </Card>
        <TotpCard />
        {hasPassword && <PasswordCard />}
        <SessionsCard />
      </div>
      <TokensCard />
    </Page>
  );
}

const EMPTY = { current: "", next: "" };

function PasswordCard() {
  const { t } = useTranslation("account");
  const form = useForm({ defaultValues: EMPTY });
  const change = useOperationMutation("password.change", ["sessions"]);
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
