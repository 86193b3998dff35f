import { useParams } from "@tanstack/react-router";
import { Ban } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useLive } from "../../api/events.ts";
import { useKeyOptions } from "../../api/options.ts";
import { useOperationQuery } from "../../api/queries.ts";
import { useCan } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Page } from "../../ui/page/page.tsx";
import { isNotFound, QueryState } from "../../ui/page/query-state.tsx";
import { Details } from "../../ui/text/details.tsx";
import { formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { ButtonLink, TextLink } from "../../ui/text/link.tsx";
import { useNow } from "../../ui/text/time.tsx";
import { CostLines } from "../requests/cost-lines.tsx";
import { CancelJobs } from "./cancel-jobs.tsx";
import { JobStatus } from "./columns.tsx";
import { JobDeliveries } from "./deliveries.tsx";
import { Outputs } from "./outputs.tsx";
import { durationOf, isLive, type JobRow } from "./states.ts";
import { Timeline, useJobRequest } from "./timeline.tsx";

type Job = Output<"jobs.get">;

/** The page of one job, from its submission to its webhook messages, updated live. */
export default function JobPage() {
  const { t } = useTranslation("jobs");
  const { id } = useParams({ from: "/signed-in/jobs/$id" });
  const query = useOperationQuery("jobs.get", { id });
  useLive("jobs");
  const canCancel = useCan()("admin");
  const [isAsking, setAsking] = useState(false);
  const job = query.data;
  return (
    <Page
      title={t("detail.title")}
      about={<Id value={id} />}
      actions={
        <>
          {job && isLive(job) && canCancel && (
            <Button icon={Ban} onPress={() => setAsking(true)}>
              {t("cancel.one")}
            </Button>
          )}
          <ButtonLink to="/jobs">{t("detail.all")}</ButtonLink>
        </>
      }
    >
      <QueryState query={query} missing={t("detail.none", { id })}>
        {(read) => <JobDetail job={read} />}
      </QueryState>
      {job && <CancelJobs jobs={[job]} isOpen={isAsking} onClose={() => setAsking(false)} />}
    </Page>
  );
}

function JobDetail({ job }: { job: Job }) {
  const { t } = useTranslation("jobs");
  const now = useNow();
  const keys = useKeyOptions(job.organizationId);
  const { keyId, organizationId, model } = job;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2 xl:grid-cols-[minmax(18rem,24rem)_1fr]">
      <Card title={t("detail.summary")}>
        <Details
          entries={[
            [t("column.status"), <JobStatus job={job} />],
            [t("column.duration"), formatDuration(durationOf(job, now))],
            [
              t("column.model"),
              <TextLink to="/models/detail" search={{ model }}>
                {model}
              </TextLink>,
            ],
            [
              t("column.key"),
              <TextLink to="/keys/$id" params={{ id: keyId }}>
                {keys.find(({ id }) => id === keyId)?.label ?? (
                  // An id in two lines would move the page when its name replaces it.
                  <span className="block truncate">{keyId}</span>
                )}
              </TextLink>,
            ],
            [
              t("column.organization"),
              <TextLink to="/jobs" search={{ organization: organizationId }}>
                {organizationId}
              </TextLink>,
            ],
            [t("detail.requestId"), <Id value={job.requestId} />],
          ]}
        />
      </Card>
      <div className="flex min-w-0 flex-col gap-6">
        <Card title={t("detail.timeline")}>
          <Timeline job={job} />
        </Card>
        <Card title={t("detail.outputs")}>
          <Outputs job={job} />
        </Card>
        <Card title={t("detail.cost")}>
          <JobCost job={job} />
        </Card>
        <Card title={t("detail.deliveries")}>
          <JobDeliveries job={job} />
        </Card>
      </div>
    </div>
  );
}

/** Shows the charge of a job, line by line. Shows a sentence instead until the job has ended, or without a request. */
function JobCost({ job }: { job: JobRow }) {
  const { t } = useTranslation("jobs");
  const request = useJobRequest(job);
  if (job.endedAt === null) return <p className="text-muted">{t("detail.cost.waiting")}</p>;
  if (isNotFound(request.error)) return <p className="text-muted">{t("detail.cost.none")}</p>;
  return (
    <QueryState query={request}>
      {(detail) => (
        <div className="flex flex-col gap-3">
          <CostLines detail={detail} />
          <p>
            <TextLink to="/requests/$id" params={{ id: detail.request.id }}>
              {t("detail.request")}
            </TextLink>
          </p>
        </div>
      )}
    </QueryState>
  );
}
