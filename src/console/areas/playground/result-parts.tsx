import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { call } from "../../api/call.ts";
import { Problem } from "../../ui/forms/form-problem.tsx";
import { formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { Quoted } from "../../ui/text/quoted.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Money } from "../../ui/text/money.tsx";
import { Status, type StatusLevel } from "../../ui/text/status.tsx";

/** State of a request. A request for pictures can be cancelled; a request for text can be stopped. */
type ResultStateName = "running" | "done" | "failed" | "cancelled" | "stopped";

const LEVELS: Readonly<Record<ResultStateName, StatusLevel>> = {
  running: "busy",
  done: "good",
  failed: "bad",
  cancelled: "off",
  stopped: "off",
};

/** Shows the state and the duration of a request. */
export function ResultState({
  result: { state, tookMs, startedAt },
}: {
  result: { state: ResultStateName; tookMs: number | null; startedAt: number };
}) {
  const { t } = useTranslation("playground");
  return (
    <>
      <span className="text-muted">
        {tookMs === null ? <Elapsed since={startedAt} /> : formatDuration(tookMs)}
      </span>
      <span role="status">
        <Status level={LEVELS[state]}>{t(`state.${state}`)}</Status>
      </span>
    </>
  );
}

const TICK_MS = 1_000;

/** Shows the seconds that have passed since a time. */
function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{formatDuration(Math.max(0, Math.round((now - since) / TICK_MS) * TICK_MS))}</>;
}

/** Shows the message about a failed request. A message with a code is the gateway's, and is quoted with the code. */
export function ResultFailure({ failure }: { failure: { code: string; message: string } | null }) {
  const { t } = useTranslation();
  if (!failure) return null;
  const { code, message } = failure;
  return (
    <Problem>{code === "" ? message : <Quoted label={t("told")}>{`${message} (${code})`}</Quoted>}</Problem>
  );
}

/** Shows the id of a request and a link to its record. */
export function RequestId({ id }: { id: string }) {
  const { t } = useTranslation("playground");
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-2">
      <span className="min-w-0">
        <Id value={id} />
      </span>
      <span className="shrink-0">
        <TextLink to="/requests/$id" params={{ id }}>
          {t("request.open")}
        </TextLink>
      </span>
    </span>
  );
}

/** Shows the charge of a request once it is in the ledger. */
export function Billed({ requestId }: { requestId: string | null }) {
  const { t } = useTranslation("playground");
  const bill = useBill(requestId);
  return (
    <span data-bill>
      {t("billed")}{" "}
      {bill.data ? (
        <strong className="font-semibold text-text">
          <Money {...bill.data} />
        </strong>
      ) : (
        t(bill.isError ? "billed.unknown" : "billed.waiting")
      )}
    </span>
  );
}

const POLL_MS = 500;
const MAX_POLLS = 30;

function useBill(requestId: string | null) {
  return useQuery({
    queryKey: ["ledger.list", requestId, "bill"],
    enabled: requestId !== null,
    staleTime: Infinity,
    retry: MAX_POLLS,
    retryDelay: POLL_MS,
    queryFn: async ({ signal }) => {
      const { data } = await call("ledger.list", { requestId: requestId ?? "", limit: 10 }, signal);
      const charge = data.find(({ kind }) => kind === "charge");
      if (!charge) throw new Error("not charged yet");
      return { amount: charge.amount, currency: charge.currency };
    },
  });
}
