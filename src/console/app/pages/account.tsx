import { useTranslation } from "react-i18next";
import { AreaTabs } from "../components/area-tabs.tsx";
import { Card } from "../components/card.tsx";
import { Details } from "../components/details.tsx";
import { Page } from "../components/page.tsx";
import { useOrganizationOptions } from "../lib/options.ts";
import { useSession } from "../lib/session.ts";
import { PasswordCard } from "./account/password-card.tsx";
import { SessionsCard } from "./account/sessions-card.tsx";
import { TokensCard } from "./account/tokens-card.tsx";
import { TotpCard } from "./account/totp-card.tsx";

/** One's own account: password, second factor, sessions, tokens for programs. */
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
