import type { Command } from "commander";
import { JOB_STATUSES } from "../domain/job.ts";
import type { CommandContext, Output } from "./context.ts";
import { readCount, readWord } from "./options.ts";

/** `jobs list|show|cancel` */
export function addJobCommands(program: Command, cli: CommandContext): void {
  const jobs = program.command("jobs").description("pictures that are made in the background");
  jobs
    .command("list")
    .description("list jobs, newest first")
    .option("--org <id>", "of this organization only")
    .option("--key <id>", "of this key only")
    .option("--status <status>", `in this state only: ${JOB_STATUSES.join(", ")}`, readWord(...JOB_STATUSES))
    .option("--limit <n>", "most jobs", readCount, 50)
    .option("--json", "print JSON")
    .action(async ({ org, key, status, limit, json }: ListOptions) => {
      const filter = { organizationId: org, keyId: key, ...(status !== undefined && { status }) };
      const { data } = await cli.run("jobs.list", { ...filter, limit });
      cli.print(json, data, data.map(toRow));
    });
  jobs
    .command("show")
    .description("show one job")
    .argument("<id>", "the job's id")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const job = await cli.run("jobs.get", { id });
      cli.print(json, job, [toRow(job)]);
    });
  jobs
    .command("cancel")
    .description("cancel a job: at once while it waits, as far as possible while it runs; needs --url")
    .argument("<id>", "the job's id")
    .action(async (id: string) => {
      const { status } = await cli.run("jobs.cancel", { id });
      cli.printLine(status === "cancelled" ? `Job ${id} is cancelled.` : `Job ${id} is being cancelled.`);
    });
}

interface ListOptions {
  org?: string;
  key?: string;
  status?: string;
  limit: number;
  json?: boolean;
}

function toRow(job: Output<"jobs.get">) {
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
