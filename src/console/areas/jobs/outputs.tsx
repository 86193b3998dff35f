import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { operationQuery } from "../../api/queries.ts";
import { QueryState } from "../../ui/page/query-state.tsx";
import { isLive, type JobRow } from "./states.ts";

/** Shows a job's pictures as long as they are stored. */
export function Outputs({ job }: { job: JobRow }) {
  const { t } = useTranslation("jobs");
  if (job.status === "expired") return <p className="text-muted">{t("detail.outputs.gone")}</p>;
  if (isLive(job)) return <p className="text-muted">{t("detail.outputs.waiting")}</p>;
  if (job.images === 0) return <p className="text-muted">{t("detail.outputs.none")}</p>;
  return <Pictures job={job} />;
}

/** Time between a job's end and the end of the searched range. Pictures are recorded shortly after the job's end. */
const MARGIN_MS = 60_000;
const LOOK_AGAIN_MS = 1_000;

function Pictures({ job: { id, organizationId, createdAt, endedAt, images } }: { job: JobRow }) {
  const { t } = useTranslation("jobs");
  const lastMs = endedAt === null ? Infinity : Date.parse(endedAt) + MARGIN_MS;
  const query = useQuery({
    ...operationQuery("pictures.list", {
      organizationId,
      ledgerId: id,
      from: createdAt,
      ...(endedAt !== null && { to: new Date(lastMs).toISOString() }),
    }),
    refetchInterval: ({ state }) =>
      (state.data?.data.length ?? 0) < images && Date.now() < lastMs ? LOOK_AGAIN_MS : false,
  });
  return (
    <QueryState query={query}>
      {({ data }) => (
        <ul className="flex flex-wrap gap-3">
          {data.map(({ id, url, width, height, format }, index) => (
            <li key={id}>
              <a href={url} target="_blank" rel="noreferrer" className="block rounded-lg">
                <img
                  src={url}
                  width={width}
                  height={height}
                  loading="lazy"
                  alt={t("detail.output", { number: index + 1 })}
                  className="size-48 rounded-lg border border-line bg-sunken object-contain"
                />
              </a>
              <p className="mt-1 text-xs text-muted">
                {width} × {height} {format}
              </p>
            </li>
          ))}
        </ul>
      )}
    </QueryState>
  );
}
