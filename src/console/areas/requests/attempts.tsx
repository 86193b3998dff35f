import { ArrowDown } from "lucide-react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Status } from "../../ui/text/status.tsx";
import { outcomeOf, OUTCOMES } from "./outcomes.ts";

type Attempt = Output<"requests.get">["attempts"][number];

/**
 * Lists the calls to vendors in order. Each call has a bar for its duration, and the reason why the next call was made.
 */
export function Attempts({ attempts, isFailed }: { attempts: readonly Attempt[]; isFailed: boolean }) {
  const { t } = useTranslation("requests");
  if (attempts.length === 0)
    return <p className="text-muted">{t(isFailed ? "attempts.none" : "attempts.none.ok")}</p>;
  const totalMs = Math.max(
    1,
    attempts.reduce((sum, { durationMs }) => sum + durationMs, 0),
  );
  let beforeMs = 0;
  return (
    <ol className="flex flex-col gap-2">
      {attempts.map((attempt, index) => {
        const start = beforeMs / totalMs;
        beforeMs += attempt.durationMs;
        return (
          <li key={index} className="flex flex-col gap-2">
            <AttemptCard
              attempt={attempt}
              number={index + 1}
              start={start}
              width={attempt.durationMs / totalMs}
            />
            <Consequence attempt={attempt} next={attempts[index + 1]} isFailed={isFailed} />
          </li>
        );
      })}
    </ol>
  );
}

function AttemptCard({
  attempt,
  number,
  start,
  width,
}: {
  attempt: Attempt;
  number: number;
  /** Start of the call, as a part of the time of all calls, from 0 to 1. */
  start: number;
  width: number;
}) {
  const { t } = useTranslation("requests");
  const { channel, upstreamModel, status, durationMs, isAmbiguous, vendorRequestId, ignoredParams } = attempt;
  const outcome = outcomeOf(attempt.outcome);
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-line p-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="text-muted">{number}</span>
        <span className="min-w-0 font-medium break-all">
          <TextLink to="/models/providers/$id" params={{ id: channel }}>
            {channel}
          </TextLink>{" "}
          <span className="font-normal text-muted">{upstreamModel}</span>
        </span>
        <Status level={outcome ? OUTCOMES[outcome] : "unknown"}>
          {outcome ? t(`outcome.${outcome}`) : attempt.outcome}
        </Status>
        {status !== null && <span className="text-muted">{t("attempts.status", { status })}</span>}
        <span className="ml-auto whitespace-nowrap">{formatDuration(durationMs)}</span>
      </div>
      <div aria-hidden className="h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className={`h-full min-w-1 rounded-full ${attempt.outcome === "answered" ? "bg-good" : "bg-muted"}`}
          style={{ marginInlineStart: `${start * 100}%`, width: `${width * 100}%` }}
        />
      </div>
      {outcome && <p className="text-muted">{t(`why.${outcome}`)}</p>}
      {isAmbiguous && <p className="text-warn">{t("attempts.ambiguous")}</p>}
      {ignoredParams.length > 0 && (
        <p className="break-words text-muted">
          {t("attempts.ignored")}: <code className="font-mono text-xs">{ignoredParams.join(", ")}</code>
        </p>
      )}
      {vendorRequestId !== null && (
        <div className="flex flex-wrap items-center gap-2 text-xs text-muted">
          {t("attempts.vendorId")} <Id value={vendorRequestId} />
        </div>
      )}
    </div>
  );
}

/** Shows what the gateway did after an attempt. */
function Consequence({
  attempt,
  next,
  isFailed,
}: {
  attempt: Attempt;
  next: Attempt | undefined;
  isFailed: boolean;
}) {
  const { t } = useTranslation("requests");
  const target = ({ channel, upstreamModel }: Attempt) => `${channel}/${upstreamModel}`;
  if (next)
    return (
      <p className="flex items-center gap-2 pl-3 text-muted">
        <ArrowDown size={14} aria-hidden className="shrink-0" />
        {target(next) === target(attempt)
          ? t("attempts.again")
          : t("attempts.next", { target: target(next) })}
      </p>
    );
  if (attempt.outcome === "answered") return <p className="pl-3 text-muted">{t("attempts.delivered")}</p>;
  return isFailed ? <p className="pl-3 text-muted">{t("attempts.last")}</p> : null;
}
