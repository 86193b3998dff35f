import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";

const MAX_LISTED = 100;
const ID = "<id>  the endpoint's id, as listed";

export function addWebhookCommands(program: Command, cli: CommandContext): void {
  const webhooks = program.command("webhooks").description("messages about ends of jobs");
  addOperation(webhooks, cli, ["add", "webhooks.create"], {
    description: "tell an address of every end of a job, and show the secret that signs, this once",
    fields: {
      url: "[address]  public https address; without it, sign for the `webhook_url` of jobs",
      organizationId: { usage: "--org <id>  organization", default: "default" },
      format: "--format <format>  standard, or of alerts alone slack or pagerduty",
      routingKey: "--routing-key <key>  integration key of a service at PagerDuty",
    },
    json: ({ webhook, secret }) => ({ endpoint: webhook, secret }),
    line: addedLine,
  });
  addList(webhooks, cli, ["list", "webhooks.list"], {
    description: "list endpoints",
    fields: { organizationId: "--org <id>  of this organization only" },
    row: ({ id, organizationId, format, url, createdAt }) => ({
      id,
      organization: organizationId ?? "",
      format,
      url: url ?? "(webhook_url of jobs)",
      created: createdAt,
    }),
  });
  addOperation(webhooks, cli, ["remove", "webhooks.remove"], {
    description: "remove an endpoint; what waits for it is not sent any more",
    fields: { id: ID },
    line: (_, { id }) => `Webhook ${id} is removed.`,
  });
  addOperation(webhooks, cli, ["rotate", "webhooks.rotate"], {
    description: "give an endpoint another secret and show it, this once",
    fields: {
      id: ID,
      overlapMs: "--overlap <time>  how long the old secret signs, too: 30m, 24h (the default), 7d or 0",
    },
    json: (rotated) => rotated,
    line: ({ secret }, { id }) => `The new secret of ${id} is shown only now:\n\n  ${secret}\n`,
  });
  addOperation(webhooks, cli, ["deliveries", "deliveries.list"], {
    description: `list the last ${MAX_LISTED} messages and what became of them`,
    fields: {
      organizationId: "--org <id>  of this organization only",
    },
    options: { "--failed": "only those that were given up" },
    input: (given, { failed }) => ({
      ...given,
      limit: MAX_LISTED,
      ...(failed === true && { status: "failed" }),
    }),
    rows: ({ data }) => data.map(toDeliveryRow),
    json: ({ data }) => data,
  });
  addOperation(webhooks, cli, ["redeliver", "deliveries.redeliver"], {
    description: "send a message again",
    fields: { id: "<id>  the message's id, as listed by deliveries" },
    line: (_, { id }) => `${id} is sent again.`,
  });
}

function addedLine({ webhook: { id }, secret }: CommandOutput<"webhooks.create">): string {
  return secret === null
    ? `Webhook ${id} is added. It is told of alerts that use webhooks.`
    : `Webhook ${id} is added. Its secret is shown only now:\n\n  ${secret}\n`;
}

function toDeliveryRow(delivery: CommandOutput<"deliveries.list">["data"][number]) {
  const { id, organizationId, jobId, event, url, status, attempts, nextAt, createdAt, lastResult } = delivery;
  return {
    id,
    organization: organizationId ?? "",
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
