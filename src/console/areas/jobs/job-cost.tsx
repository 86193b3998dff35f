import { useTranslation } from "react-i18next";
import { TextLink } from "../../ui/text/link.tsx";
import { CostLines } from "../requests/cost-lines.tsx";
import { useJobRequest } from "./job-request.ts";
import type { JobRow } from "./states.ts";

/** What a job was charged, line by line; nothing before it has completed. */
export function JobCost({ job }: { job: JobRow }) {
  const { t } = useTranslation("jobs");
  const { data } = useJobRequest(job);
  if (job.endedAt === null) return <p className="text-muted">{t("detail.cost.waiting")}</p>;
  if (!data) return <p className="text-muted">{t("detail.cost.none")}</p>;
  return (
    <div className="flex flex-col gap-3">
      <CostLines detail={data} />
      <p>
        <TextLink to="/requests/$id" params={{ id: data.request.id }}>
          {t("detail.request")}
        </TextLink>
      </p>
    </div>
  );
}
