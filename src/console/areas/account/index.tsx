import { useTranslation } from "react-i18next";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Details } from "../../ui/text/details.tsx";
import { Page } from "../../ui/page/page.tsx";
import { useOrganizationOptions } from "../../api/options.ts";
import { useSession } from "../../api/session.ts";
import { PasswordCard } from "./password-card.tsx";
import { SessionsCard } from "./sessions-card.tsx";
import { TokensCard } from "./tokens-card.tsx";
import { TotpCard } from "./totp-card.tsx";

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
