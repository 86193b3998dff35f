import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { Details } from "../../ui/text/details.tsx";
import { Id } from "../../ui/text/id.tsx";
import { Time } from "../../ui/text/time.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { useOrganizationOptions } from "../../api/options.ts";
import { useKeyWords, type Key } from "./key-view.tsx";

type LimitName = keyof Key["limits"];

/** What a key may do. */
export function KeyBounds({ view }: { view: Key }) {
  const { t } = useTranslation(["keys", "shell"]);
  const words = useKeyWords();
  const organization = useOrganizationOptions().find(({ id }) => id === view.organizationId);
  const limits = Object.entries(view.limits).map(([name, own]): [string, string] => [
    t(`shell:limit.${name as LimitName}`),
    own === null ? t("limits.unlimited") : formatCount(own),
  ]);
  return (
    <Card title={t("detail.bounds")}>
      <Details
        entries={[
          [t("column.prefix"), <code className="font-mono text-xs">{view.prefix}…</code>],
          [t("detail.id"), <Id value={view.id} />],
          [t("column.organization"), organization?.label ?? view.organizationId],
          [t("column.scopes"), words.scopes(view.scopes)],
          [t("column.models"), view.models === "*" ? t("models.all") : view.models.join(", ")],
          [
            t("form.addresses"),
            view.addresses === null ? t("detail.addresses.any") : view.addresses.join(", "),
          ],
          ...limits,
          [t("column.expires"), view.expiresAt === null ? t("never") : <Time at={view.expiresAt} />],
          [t("column.created"), <Time at={view.createdAt} />],
        ]}
      />
    </Card>
  );
}
