import type { Command } from "commander";
import { JOB_STATUSES } from "../domain/job.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addOperation } from "./operation-command.ts";
import { readWord } from "./options.ts";

const ID = "<id>  the job's id";

export function addJobCommands(program: Command, cli: CommandContext): void {
  const jobs = program.command("jobs").description("pictures that are made in the background");
  addOperation(jobs, cli, ["list", "jobs.list"], {
    description: "list jobs, newest first",
    fields: {
      organizationId: "--org <id>  of this organization only",
      keyId: "--key <id>  of this key only",
      status: {
        usage: `--status <status>  in this state only: ${JOB_STATUSES.join(", ")}`,
        read: readWord(...JOB_STATUSES),
      },
      limit: { usage: "--limit <n>  most jobs", default: 50 },
    },
    rows: ({ data }) => data.map(toRow),
    json: ({ data }) => data,
  });
  addOperation(jobs, cli, ["show", "jobs.get"], {
    description: "show one job",
    fields: { id: ID },
    rows: (job) => [toRow(job)],
  });
  addOperation(jobs, cli, ["cancel", "jobs.cancel"], {
    description: "cancel a job: at once while it waits, as far as possible while it runs; needs --url",
    fields: { id: ID },
    line: ({ status }, { id }) =>
      status === "cancelled" ? `Job ${id} is cancelled.` : `Job ${id} is being cancelled.`,
  });
}

/** Adds the command `links rotate`, for links to the pictures of jobs and requests. */
export function addLinkCommands(program: Command, cli: CommandContext): void {
  const links = program.command("links").description("links to results");
  addOperation(links, cli, ["rotate", "links.rotate"], {
    description: "sign links with a new secret; links made before stay valid until they expire",
    fields: { isImmediate: "--now  make links made before invalid at once" },
    json: ({ kept }) => ({ rotated: true, older_links_valid: kept > 0 }),
    line: ({ kept }) =>
      kept > 0
        ? "New links have a new secret. Older links stay valid until they expire."
        : "New links have a new secret. Older links are not valid any more.",
  });
}

function toRow(job: CommandOutput<"jobs.get">) {
  const { id, organizationId, keyId, model, status, progress, images, error, createdAt, endedAt } = job;
  return {
    id,
    organization: organizationId,
    key: keyId,
    model,
    status,
    progress: `${progress} %`,
    images: String(images),
    error: error?.message ?? "",
    created: createdAt,
    ended: endedAt ?? "",
  };
}
