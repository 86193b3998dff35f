import { Check } from "lucide-react";
import { Checkbox } from "react-aria-components/Checkbox";
import { useTranslation } from "react-i18next";
import { useKeyOptions } from "../../api/options.ts";
import type { TableColumn } from "../../ui/table/data-table.tsx";
import { formatDuration } from "../../ui/text/format.ts";
import { Id } from "../../ui/text/id.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Moment, useNow } from "../../ui/text/time.tsx";
import { STATES, durationOf, isLive, type JobRow } from "./states.ts";

interface Choice {
  /** Ids of the chosen jobs. */
  chosen: ReadonlySet<string>;
  onChoose(chosen: ReadonlySet<string>): void;
}

/** Returns the columns of the list. `choice` is null for members who may not cancel jobs. */
export function useJobColumns(choice: Choice | null): readonly TableColumn<JobRow>[] {
  const { t } = useTranslation("jobs");
  const now = useNow();
  const keys = new Map(useKeyOptions().map(({ id, label }) => [id, label]));
  const columns: TableColumn<JobRow>[] = [
    {
      id: "createdAt",
      header: t("column.createdAt"),
      cell: ({ id, createdAt }) => (
        <TextLink to="/jobs/$id" params={{ id }}>
          <Moment at={createdAt} />
        </TextLink>
      ),
    },
    { id: "status", phone: "first", header: t("column.status"), cell: (job) => <JobStatus job={job} /> },
    { id: "model", phone: "second", header: t("column.model"), cell: ({ model }) => model },
    { id: "key", phone: "second", header: t("column.key"), cell: ({ keyId }) => keys.get(keyId) ?? keyId },
    {
      id: "organization",
      header: t("column.organization"),
      isOptional: true,
      cell: ({ organizationId }) => organizationId,
    },
    {
      id: "duration",
      phone: "second",
      header: t("column.duration"),
      isNumber: true,
      cell: (job) => <span className="whitespace-nowrap">{formatDuration(durationOf(job, now))}</span>,
    },
    {
      id: "outputs",
      phone: "named",
      header: t("column.outputs"),
      isNumber: true,
      cell: ({ images }) => images,
    },
    { id: "id", header: t("column.id"), cell: ({ id }) => <Id value={id} isShort /> },
  ];
  return choice
    ? columns.toSpliced(1, 0, choiceColumn(choice, t("column.choice"), t("select.one")))
    : columns;
}

function choiceColumn({ chosen, onChoose }: Choice, header: string, label: string): TableColumn<JobRow> {
  return {
    id: "choice",
    header,
    phone: "first",
    cell: (job) => (
      <Checkbox
        aria-label={`${label} ${job.id}`}
        isSelected={chosen.has(job.id) && isLive(job)}
        isDisabled={!isLive(job)}
        onChange={(isChosen) => {
          const ids = new Set(chosen);
          if (isChosen) ids.add(job.id);
          else ids.delete(job.id);
          onChoose(ids);
        }}
        className="group flex size-6 cursor-pointer items-center justify-center data-disabled:invisible"
      >
        <span className="flex size-4 items-center justify-center rounded border border-line-strong group-data-focus-visible:outline-2 group-data-focus-visible:outline-offset-2 group-data-focus-visible:outline-accent group-data-selected:border-accent-solid group-data-selected:bg-accent-solid">
          <Check size={12} aria-hidden className="invisible text-white group-data-selected:visible" />
        </span>
      </Checkbox>
    ),
  };
}

/** Shows a job's state, and its progress while it runs. */
export function JobStatus({ job: { status, progress, isCancelRequested } }: { job: JobRow }) {
  const { t } = useTranslation("jobs");
  const isRunning = status === "in_progress";
  return (
    <Status level={STATES[status]}>
      {isRunning && isCancelRequested ? t("status.cancelling") : t(`status.${status}`)}
      {isRunning && ` ${progress} %`}
    </Status>
  );
}
