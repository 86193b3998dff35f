import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Details } from "../../ui/text/details.tsx";
import { formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { Attempts } from "./attempts.tsx";
import { RequestUsage } from "./columns.tsx";
import { CostLines } from "./cost-lines.tsx";
import { KeptPrompt } from "./kept-prompt.tsx";
import { statusLevel } from "./outcomes.ts";

type Detail = Output<"requests.get">;

/** The page of one request: its facts, its vendor calls and its cost. */
export default function RequestPage() {
  const { t } = useTranslation("requests");
  const { id } = useParams({ from: "/signed-in/requests/$id" });
  const query = useOperationQuery("requests.get", { id });
  return (
    <Page
      title={t("detail.title")}
      about={<Id value={id} />}
      actions={<ButtonLink to="/requests">{t("detail.all")}</ButtonLink>}
    >
      <QueryState
        query={query}
        missing={
          <>
            {t("find.none", { id })}. {t("find.none.help")}
          </>
        }
      >
        {(detail) => <RequestDetail detail={detail} />}
      </QueryState>
    </Page>
  );
}

function RequestDetail({ detail }: { detail: Detail }) {
  const { t } = useTranslation("requests");
  const { request, attempts } = detail;
  const canReadPrompts = useCan()("admin");
  return (
    <>
      {request.isFailed && (
        <Card title={t("detail.error")}>
          <div className="flex flex-wrap items-center gap-3">
            <Status level={statusLevel(request.status)}>{request.status}</Status>
            {request.code !== null && <code className="font-mono text-xs">{request.code}</code>}
            {request.message !== null && (
              <q lang="en" className="min-w-0 break-words">
                {request.message}
              </q>
            )}
          </div>
          {request.cause !== null && (
            <p className="mt-2 break-words text-muted">
              {t("detail.cause")}: <span lang="en">{request.cause}</span>
            </p>
          )}
        </Card>
      )}
      <div className="grid items-start gap-6 lg:grid-cols-2 xl:grid-cols-[minmax(18rem,24rem)_1fr]">
        <Card title={t("detail.summary")}>
          <Summary detail={detail} />
        </Card>
        <div className="flex min-w-0 flex-col gap-6">
          <Card title={t("attempts.title")}>
            <Attempts attempts={attempts} isFailed={request.isFailed} />
          </Card>
          <Card title={t("cost.title")}>
            <CostLines detail={detail} />
          </Card>
          <Card title={t("ledger.title")}>
            <LedgerLines detail={detail} />
          </Card>
          {canReadPrompts && request.organizationId && (
            <KeptPrompt request={request} organizationId={request.organizationId} />
          )}
        </div>
      </div>
      <Others others={detail.others} />
    </>
  );
}

function Summary({ detail: { request } }: { detail: Detail }) {
  const { t } = useTranslation("requests");
  const { model, keyId, amount, currency } = request;
  return (
    <Details
      entries={[
        [t("column.status"), <Status level={statusLevel(request.status)}>{request.status}</Status>],
        [t("column.at"), <Time at={request.at} isAbsolute />],
        ...useTimes(request),
        [
          t("detail.asked"),
          request.askedModel && <code className="font-mono text-xs">{request.askedModel}</code>,
        ],
        [
          t("column.model"),
          model && (
            <TextLink to="/models/detail" search={{ model }}>
              {model}
            </TextLink>
          ),
        ],
        [
          t("column.key"),
          keyId && (
            <TextLink to="/keys/$id" params={{ id: keyId }}>
              {request.keyName ?? keyId}
            </TextLink>
          ),
        ],
        ...useSides(request),
        [t("column.route"), request.path ?? request.route],
        [t("column.usage"), <RequestUsage {...request} />],
        [
          t("column.amount"),
          amount === null || currency === null ? null : <Money amount={amount} currency={currency} />,
        ],
        [t("column.id"), <Id value={request.requestId} />],
        [t("detail.ownId"), request.id === request.requestId ? null : <Id value={request.id} />],
        [t("detail.traceId"), request.traceId && <Id value={request.traceId} />],
        [t("detail.address"), request.address],
      ]}
    />
  );
}

/** Returns rows about both sides of a request: the caller, and the target that served it. */
function useSides({ organizationId, source, client, channel }: Detail["request"]): [string, ReactNode][] {
  const { t } = useTranslation("requests");
  return [
    [
      t("column.organization"),
      organizationId && (
        <TextLink to="/requests" search={{ organization: organizationId }}>
          {organizationId}
        </TextLink>
      ),
    ],
    [t("detail.source"), source],
    [t("detail.client"), client],
    [
      t("column.channel"),
      channel && (
        <TextLink to="/models/providers/$id" params={{ id: channel }}>
          {channel}
        </TextLink>
      ),
    ],
  ];
}

/** Returns rows about a request's duration and the speed of its content. */
function useTimes({ durationMs, firstByteMs, tokensPerSecond }: Detail["request"]): [string, ReactNode][] {
  const { t } = useTranslation("requests");
  return [
    [t("column.duration"), durationMs === null ? null : formatDuration(durationMs)],
    [t("detail.firstByte"), firstByteMs === null ? null : formatDuration(firstByteMs)],
    [
      t("detail.speed"),
      tokensPerSecond === null ? null : t("detail.speed.value", { count: tokensPerSecond }),
    ],
  ];
}

/** Lists the requests that share the id of the shown request, for example when a caller repeats a request. */
function Others({ others }: { others: Detail["others"] }) {
  const { t } = useTranslation("requests");
  if (others.length === 0) return null;
  return (
    <Card title={t("detail.others")}>
      <ul className="flex flex-col gap-2">
        {others.map(({ id, at }) => (
          <li key={id} className="flex flex-wrap gap-3">
            <TextLink to="/requests/$id" params={{ id }}>
              {id}
            </TextLink>
            <Time at={at} isAbsolute />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Lists the ledger entries of one request: its charge and the charge's corrections. */
function LedgerLines({ detail: { ledger, net } }: { detail: Output<"requests.get"> }) {
  const { t } = useTranslation("requests");
  const [charge] = ledger;
  if (!charge) return <p className="text-muted">{t("ledger.none")}</p>;
  return (
    <ul className="@container flex flex-col divide-y divide-line">
      {ledger.map(({ id, kind, at, amount, currency }) => (
        <li key={`${id} ${kind}`} className="flex items-start justify-between gap-x-4 py-2 @max-md:flex-wrap">
          <span className="w-24 shrink-0 font-medium">{t(`ledger.${kind}`)}</span>
          <span className="flex min-w-0 flex-1 flex-col items-start gap-1 @max-md:order-last @max-md:basis-full">
            <Id value={id} />
            <span className="text-xs text-muted">
              <Time at={at} isAbsolute />
            </span>
          </span>
          <Money amount={amount} currency={currency} />
        </li>
      ))}
      {ledger.length > 1 && net !== null && (
        <li className="flex items-center gap-4 py-2 font-semibold">
          <span className="flex-1">{t("ledger.net")}</span>
          <Money amount={net} currency={charge.currency} />
        </li>
      )}
    </ul>
  );
}
