import { RotateCw } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { QueryState } from "../../ui/page/query-state.tsx";
import { Status, type StatusLevel } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { resultOf, type Delivery } from "../webhooks/delivery-result.ts";
import { isLive, type JobRow } from "./states.ts";

const LEVELS: Readonly<Record<Delivery["status"], StatusLevel>> = {
  waiting: "busy",
  delivered: "good",
  failed: "bad",
};

/** Lists the webhook messages about a job's end and their state. */
export function JobDeliveries({ job }: { job: JobRow }) {
  const { t } = useTranslation("jobs");
  const query = useOperationQuery("deliveries.list", { organizationId: job.organizationId, jobId: job.id });
  return (
    <QueryState query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="text-muted">
            {t(isLive(job) ? "detail.deliveries.waiting" : "detail.deliveries.none")}
          </p>
        ) : (
          <ul className="flex flex-col divide-y divide-line">
            {data.map((delivery) => (
              <DeliveryLine key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )
      }
    </QueryState>
  );
}

function DeliveryLine({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation("jobs");
  const canSend = useCan()("admin");
  const { id, event, url, status, attempts, lastResult, endedAt, createdAt } = delivery;
  const redeliver = useOperationMutation("deliveries.redeliver", ["deliveries"]);
  const send = () =>
    redeliver.mutate({ id }, { onSuccess: () => showToast(t("detail.sentAgain")), onError: showProblem });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
      <Status level={LEVELS[status]}>{t(`delivery.${status}`)}</Status>
      <code className="font-mono text-xs">{event}</code>
      <span className="min-w-40 flex-1 break-all">{url}</span>
      <span className="text-muted">{t("delivery.tries", { count: attempts })}</span>
      {lastResult !== null && <span className="break-words text-muted">{resultOf(delivery)}</span>}
      <Time at={endedAt ?? createdAt} />
      {canSend && status !== "waiting" && (
        <Button kind="quiet" icon={RotateCw} isPending={redeliver.isPending} onPress={send}>
          {t("detail.again")}
        </Button>
      )}
    </li>
  );
}
