import { useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useLive } from "../../api/events.ts";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { Details } from "../../ui/text/details.tsx";
import { formatCount, formatDuration, formatShare } from "../../ui/text/format.ts";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { Time } from "../../ui/text/time.tsx";
import { ChannelHealth, CredentialState } from "./channel-health.tsx";
import { DEADLINES } from "./channel-values.ts";
import { EditChannel } from "./edit-channel.tsx";
import { TestConnection } from "./test-connection.tsx";

type Channel = Output<"channels.get">;

/** The page of one channel with its health, its routes and its actions. */
export default function ProviderPage() {
  const { t } = useTranslation("providers");
  const { id } = useParams({ from: "/signed-in/models/providers/$id" });
  const query = useOperationQuery("channels.get", { id });
  useLive("channels");
  const can = useCan();
  const canChange = can("admin", "installation") && query.data?.origin === "database";
  return (
    <Page
      title={id}
      actions={
        <>
          {query.data && canChange && <RemoveChannel channel={query.data} />}
          <ButtonLink to="/models/providers">{t("detail.all")}</ButtonLink>
        </>
      }
    >
      <QueryState query={query} missing={t("detail.none", { id })}>
        {(channel) => (
          <>
            <Summary channel={channel} />
            <LastErrors id={channel.id} />
            {canChange && <EditChannel channel={channel} />}
            <Card title={t("routes.title")}>
              <ChannelUses uses={channel.uses} />
            </Card>
          </>
        )}
      </QueryState>
    </Page>
  );
}

function Summary({ channel }: { channel: Channel }) {
  const { t } = useTranslation("providers");
  const can = useCan();
  const { id, provider, origin, baseUrl, region, maxConcurrent, deadlines, health } = channel;
  const limits = DEADLINES.flatMap((name) => {
    const ms = deadlines?.[name];
    return ms === undefined ? [] : [`${t(`form.${name}`)} ${formatDuration(ms)}`];
  });
  const callsOf = ({ requests, errorRate, p95Ms }: NonNullable<Channel["health"]>) =>
    [
      formatCount(requests),
      ...(errorRate === null ? [] : [t("health.failed", { share: formatShare(errorRate) })]),
      ...(p95Ms === null ? [] : [t("health.p95", { duration: formatDuration(p95Ms) })]),
    ].join(" · ");
  return (
    <Card title={t("detail.summary")}>
      <div className="flex flex-col gap-5">
        <Details
          entries={[
            [t("column.health"), <ChannelHealth channel={channel} />],
            [t("health.targets"), health && health.targets.length > 0 ? health.targets.join(", ") : null],
            [t("health.probe"), health?.nextProbeAt ? <Time at={health.nextProbeAt} /> : null],
            [t("health.calls"), health && callsOf(health)],
            [t("column.provider"), provider],
            [t("column.origin"), <Origin origin={origin} />],
            [t("column.credential"), <CredentialState channel={channel} />],
            [t("column.baseUrl"), baseUrl],
            [t("form.region"), region],
            [t("form.maxConcurrent"), maxConcurrent === null ? null : formatCount(maxConcurrent)],
            [t("form.deadlines"), limits.length === 0 ? null : limits.join(", ")],
            [t("form.headers"), <Pairs pairs={channel.headers} />],
            [t("form.settings"), <Pairs pairs={channel.settings} />],
          ]}
        />
        {can("admin", "installation") && <TestConnection read={() => ({ id })} />}
      </div>
    </Card>
  );
}

/** Lists the newest requests to the channel that ended with a 5xx status. Each row links to the request's page. */
function LastErrors({ id }: { id: string }) {
  const { t } = useTranslation("providers");
  const query = useOperationQuery("requests.list", { channel: id, statusClass: "5xx", limit: 5 });
  return (
    <Card
      title={t("errors.title")}
      actions={
        <TextLink to="/requests" search={{ channel: id, status: "5xx" }}>
          {t("errors.all")}
        </TextLink>
      }
    >
      <QueryState query={query} skeleton={<Skeleton className="h-10 w-full" />}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-muted">{t("errors.none")}</p>
          ) : (
            <ul className="flex flex-col gap-2">
              {data.map((request) => (
                <li key={request.id} className="flex flex-wrap items-baseline gap-x-3">
                  <Time at={request.at} />
                  <TextLink to="/requests/$id" params={{ id: request.id }}>
                    {request.requestId}
                  </TextLink>
                  <span>{request.model}</span>
                  <span className="text-muted">{request.code}</span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryState>
    </Card>
  );
}

function Origin({ origin }: { origin: Channel["origin"] }) {
  const { t } = useTranslation("providers");
  return (
    <>
      {t(`origin.${origin}`)}
      {origin !== "database" && <p className="text-muted">{t(`origin.${origin}.note`)}</p>}
    </>
  );
}

function Pairs({ pairs }: { pairs: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return <span className="text-muted">–</span>;
  return (
    <ul className="font-mono text-xs">
      {entries.map(([name, value]) => (
        <li key={name} className="break-all">
          {name}: {typeof value === "string" ? value : JSON.stringify(value)}
        </li>
      ))}
    </ul>
  );
}

/** Removes a channel. Shows first which models would lose the channel. */
function RemoveChannel({ channel }: { channel: Output<"channels.get"> }) {
  const { t } = useTranslation("providers");
  const navigate = useNavigate();
  const { id, hasCredential, uses } = channel;
  const [isAsking, setAsking] = useState(false);
  const remove = useOperationMutation("channels.remove", ["channels", "models", "routes", "providers"]);
  const removeNow = async () => {
    await remove.mutateAsync({ id, force: true });
    showToast(t("remove.done"));
    await navigate({ to: "/models/providers" });
  };
  return (
    <>
      <Button icon={Trash2} onPress={() => setAsking(true)}>
        {t("remove")}
      </Button>
      <ConfirmDialog
        title={t("remove.title", { id })}
        consequences={<RemovalConsequences uses={uses} hasCredential={hasCredential} />}
        confirmLabel={t("remove")}
        name={id}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={removeNow}
      />
    </>
  );
}

type Uses = Output<"channels.get">["uses"];

const MAX_NAMED = 5;

/** Lists the routes that contain a channel. */
function ChannelUses({ uses: { models, organizationRoutes } }: { uses: Uses }) {
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

/** Shows the consequences of removing a channel. */
function RemovalConsequences({
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
