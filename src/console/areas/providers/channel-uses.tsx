import { useTranslation } from "react-i18next";
import { TextLink } from "../../ui/text/link.tsx";
import type { Output } from "../../api/call.ts";

type Uses = Output<"channels.get">["uses"];

const MAX_NAMED = 5;

/** The routes that name a channel. */
export function ChannelUses({ uses: { models, organizationRoutes } }: { uses: Uses }) {
  const { t } = useTranslation("providers");
  if (models.length + organizationRoutes.length === 0)
    return (
      <p className="text-muted">
        {t("routes.none")} <TextLink to="/models">{t("routes.none.action")}</TextLink>
      </p>
    );
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1">
      {models.map((model) => (
        <li key={model}>
          <TextLink to="/models/detail" search={{ model }}>
            {model}
          </TextLink>
        </li>
      ))}
      {organizationRoutes.map(({ organizationId, model }) => (
        <li key={`${organizationId} ${model}`}>
          <TextLink to="/models/detail" search={{ model, organization: organizationId }}>
            {t("routes.of", { model, organization: organizationId })}
          </TextLink>
        </li>
      ))}
    </ul>
  );
}

/** The consequences of removing a channel, in figures. */
export function RemovalConsequences({
  uses: { models, unroutable, organizationRoutes },
  hasCredential,
}: {
  uses: Uses;
  hasCredential: boolean;
}) {
  const { t } = useTranslation("providers");
  const own = organizationRoutes.map(({ organizationId, model }) =>
    t("routes.of", { model, organization: organizationId }),
  );
  const named = (names: readonly string[]) =>
    names.slice(0, MAX_NAMED).join(", ") + (names.length > MAX_NAMED ? "…" : "");
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5">
      {models.length + own.length === 0 && <li>{t("remove.none")}</li>}
      {models.length > 0 && <li>{t("remove.defaults", { count: models.length, names: named(models) })}</li>}
      {own.length > 0 && <li>{t("remove.own", { count: own.length, names: named(own) })}</li>}
      {unroutable.length > 0 && (
        <li className="font-medium text-bad">
          {t("remove.alone", { count: unroutable.length, names: named(unroutable) })}
        </li>
      )}
      {hasCredential && <li>{t("remove.credential")}</li>}
    </ul>
  );
}
