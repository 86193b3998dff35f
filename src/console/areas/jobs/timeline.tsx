import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { operationQuery } from "../../api/queries.ts";
import { formatDuration } from "../../ui/text/format.ts";
import { Quoted } from "../../ui/text/quoted.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { Attempts } from "../requests/attempts.tsx";
import { STATES, type JobRow } from "./states.ts";

/** Shows the events of a job from its submission to its end. Vendor calls appear after the end. */
export function Timeline({ job }: { job: JobRow }) {
  const { t } = useTranslation(["jobs", "shell"]);
  const { createdAt, startedAt, endedAt, deadlineAt, status, error, isCancelRequested } = job;
  const request = useJobRequest(job);
  const waited = startedAt === null ? null : Date.parse(startedAt) - Date.parse(createdAt);
  const attempts = request.data?.attempts ?? [];
  return (
    <ol className="flex flex-col gap-4 border-l-2 border-line pl-4">
      <li>
        {t("event.submitted")} <Moment at={createdAt} />
      </li>
      {startedAt !== null && (
        <li>
          {t("event.sent")} <Moment at={startedAt} />{" "}
          {waited !== null && (
            <span className="text-muted">{t("event.waited", { duration: formatDuration(waited) })}</span>
          )}
        </li>
      )}
      {attempts.length > 0 && (
        <li>
          <Attempts attempts={attempts} isFailed={status === "failed"} />
        </li>
      )}
      {isCancelRequested && endedAt === null && <li>{t("event.cancelRequested")}</li>}
      {endedAt === null ? (
        <li className="text-muted">
          {t("event.deadline")} <Moment at={deadlineAt} />
        </li>
      ) : (
        <li className="flex flex-col gap-1">
          <span className="flex flex-wrap items-center gap-2">
            <Status level={STATES[status]}>{t(`status.${status}`)}</Status> <Moment at={endedAt} />
          </span>
          {error && (
            <span className="min-w-0 break-words">
              <code className="font-mono text-xs">{error.type}</code>{" "}
              <Quoted label={t("shell:told")}>{error.message}</Quoted>
            </span>
          )}
        </li>
      )}
    </ol>
  );
}

function Moment({ at }: { at: string }) {
  return (
    <span className="text-muted">
      <Time at={at} isAbsolute />
    </span>
  );
}

/** Returns the request of a job that has ended, with its vendor calls and cost. The ledger entry has the job's id. */
export function useJobRequest({ id, endedAt }: Pick<JobRow, "id" | "endedAt">) {
  return useQuery({ ...operationQuery("requests.get", { id }), enabled: endedAt !== null });
}
