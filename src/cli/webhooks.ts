import type { Command } from "commander";
import type { CommandContext, Output } from "./context.ts";
import { readDuration } from "./options.ts";

const DAY_MS = 24 * 60 * 60_000;
const MAX_LISTED = 100;

/** `webhooks add|list|remove|rotate|deliveries|redeliver` */
export function addWebhookCommands(program: Command, cli: CommandContext): void {
  const webhooks = program.command("webhooks").description("messages about ends of jobs");
  webhooks
    .command("add")
    .description("tell an address of every end of a job, and show the secret that signs, this once")
    .argument("[address]", "public https address; without it, sign for the `webhook_url` of jobs")
    .option("--org <id>", "organization", "default")
    .option("--json", "print JSON")
    .action(async (url: string | undefined, { org, json }: { org: string; json?: boolean }) => {
      const { webhook, secret } = await cli.run("webhooks.create", { organizationId: org, url: url ?? null });
      if (json) return cli.print(true, { endpoint: webhook, secret }, []);
      cli.printLine(`Webhook ${webhook.id} is added. Its secret is shown only now:\n\n  ${secret}\n`);
    });
  webhooks
    .command("list")
    .description("list endpoints")
    .option("--org <id>", "of this organization only")
    .option("--json", "print JSON")
    .action(async ({ org, json }: { org?: string; json?: boolean }) => {
      const endpoints = await cli.list("webhooks.list", { organizationId: org });
      cli.print(json, endpoints, endpoints.map(toRow));
    });
  webhooks
    .command("remove")
    .description("remove an endpoint; what waits for it is not sent any more")
    .argument("<id>", "the endpoint's id, as listed")
    .action(async (id: string) => {
      await cli.run("webhooks.remove", { id });
      cli.printLine(`Webhook ${id} is removed.`);
    });
  webhooks
    .command("rotate")
    .description("give an endpoint another secret and show it, this once")
    .argument("<id>", "the endpoint's id, as listed")
    .option(
      "--overlap <time>",
      "how long the old secret signs, too: 30m, 24h (the default), 7d or 0",
      readDuration,
    )
    .option("--json", "print JSON")
    .action(async (id: string, { overlap = DAY_MS, json }: { overlap?: number; json?: boolean }) => {
      const { secret } = await cli.run("webhooks.rotate", { id, overlapMs: overlap });
      if (json) cli.print(true, { secret }, []);
      else cli.printLine(`The new secret of ${id} is shown only now:\n\n  ${secret}\n`);
    });
  addDeliveryCommands(webhooks, cli);
}

function addDeliveryCommands(webhooks: Command, cli: CommandContext): void {
  webhooks
    .command("deliveries")
    .description(`list the last ${MAX_LISTED} messages and what became of them`)
    .option("--org <id>", "of this organization only")
    .option("--failed", "only those that were given up")
    .option("--json", "print JSON")
    .action(async ({ org, failed = false, json }: { org?: string; failed?: boolean; json?: boolean }) => {
      const filter = { organizationId: org, ...(failed && { status: "failed" as const }), limit: MAX_LISTED };
      const { data: deliveries } = await cli.run("deliveries.list", filter);
      cli.print(json, deliveries, deliveries.map(toDeliveryRow));
    });
  webhooks
    .command("redeliver")
    .description("send a message again")
    .argument("<id>", "the message's id, as listed by deliveries")
    .action(async (id: string) => {
      await cli.run("deliveries.redeliver", { id });
      cli.printLine(`${id} is sent again.`);
    });
}

function toRow({ id, organizationId, url, createdAt }: Output<"webhooks.list">["data"][number]) {
  return { id, organization: organizationId, url: url ?? "(webhook_url of jobs)", created: createdAt };
}

function toDeliveryRow(delivery: Output<"deliveries.list">["data"][number]) {
  const { id, organizationId, jobId, event, url, status, attempts, nextAt, createdAt, lastResult } = delivery;
  return {
    id,
    organization: organizationId,
    job: jobId,
    event,
    url,
    status,
    attempts: String(attempts),
    last: lastResult ?? "",
    next: nextAt ?? "",
    created: createdAt,
  };
}
