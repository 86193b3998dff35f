import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Quoted } from "../../ui/text/quoted.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { OwnRequest } from "./own-usage.ts";

/** Lists the key's last requests, with their error messages. */
export function LastRequests({ requests }: { requests: readonly OwnRequest[] }) {
  const { t } = useTranslation("ownKey");
  const head = "px-4 py-2 text-xs font-medium whitespace-nowrap text-muted";
  return (
    <Card title={t("last")} isFlush>
      {requests.length === 0 ? (
        <EmptyState>{t("last.none")}</EmptyState>
      ) : (
        <div tabIndex={0} role="group" aria-label={t("last")} className="overflow-x-auto -outline-offset-2!">
          <table className="w-full">
            <thead>
              <tr className="border-b border-line text-left">
                <th scope="col" className={head}>
                  {t("time")}
                </th>
                <th scope="col" className={head}>
                  {t("model")}
                </th>
                <th scope="col" className={head}>
                  {t("status")}
                </th>
                <th scope="col" className={`${head} text-right`}>
                  {t("duration")}
                </th>
                <th scope="col" className={`${head} text-right`}>
                  {t("amount")}
                </th>
                <th scope="col" className={head}>
                  {t("requestId")}
                </th>
              </tr>
            </thead>
            <tbody>
              {requests.map((request) => (
                <RequestRow key={request.id} request={request} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function RequestRow({ request }: { request: OwnRequest }) {
  const { t } = useTranslation();
  const { at, model, status, code, message, duration_ms: ms, amount, currency, request_id: id } = request;
  const cell = "px-4 py-2 align-top";
  const level = status >= 500 ? "bad" : status >= 400 ? "warn" : "good";
  return (
    <tr className="border-t border-line first:border-t-0">
      <td className={`${cell} text-muted`}>
        <Time at={at} />
      </td>
      <td className={`${cell} whitespace-nowrap`}>{model ?? "–"}</td>
      <td className={`${cell} max-w-80`}>
        <Status level={level}>{code === null ? status : `${status} ${code}`}</Status>
        {message !== null && (
          <p className="mt-1 text-xs break-words text-muted">
            <Quoted label={t("told")}>{message}</Quoted>
          </p>
        )}
      </td>
      <td className={`${cell} text-right whitespace-nowrap`}>{ms === null ? "–" : formatDuration(ms)}</td>
      <td className={`${cell} text-right`}>
        {amount === null || currency === null ? "–" : <Money amount={amount} currency={currency} />}
      </td>
      <td className={cell}>
        <Id value={id} isShort />
      </td>
    </tr>
  );
}
