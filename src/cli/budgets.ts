import type { Command } from "commander";
import { amountCodec } from "../admin/output.ts";
import { formatNanos } from "../lib/money.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";

const ID = "<id>  the budget's id, as listed";

export function addBudgetCommands(program: Command, cli: CommandContext): void {
  const budgets = program.command("budgets").description("hard stops on spending");
  addOperation(budgets, cli, ["create", "budgets.create"], {
    description: "limit what an organization, or one of its keys, may spend",
    fields: {
      amount: "--amount <decimal>  in the organization's currency, for example 100.00",
      organizationId: { usage: "--org <id>  organization", default: "default" },
      keyId: "--key <id>  of this key only",
      period: "--period <total|day|month>  how often it starts anew, in UTC",
    },
    rows: (budget) => [toRow(budget)],
  });
  addList(budgets, cli, ["list", "budgets.list"], {
    description: "list budgets, what is left of them, and how much of that processes hold for requests",
    fields: { organizationId: "--org <id>  of this organization only" },
    row: toRow,
  });
  addOperation(budgets, cli, ["set", "budgets.update"], {
    description: "change the amount; what was spent stays spent",
    fields: {
      id: ID,
      amount: { usage: "--amount <decimal>  new amount, for example 100.00", isRequired: true },
    },
    rows: (budget) => [toRow(budget)],
  });
  addOperation(budgets, cli, ["remove", "budgets.remove"], {
    description: "remove a budget",
    fields: { id: ID },
    line: (_, { id }) => `Budget ${id} is removed.`,
  });
  addList(budgets, cli, ["in-doubt", "leases.list"], {
    description: "list what processes hold that vanished without their journal being posted",
    row: toLeaseRow,
    json: (leases) => leases.map(toLeaseRow),
  });
  addOperation(budgets, cli, ["write-off", "leases.writeOff"], {
    description: "return what such a process holds; only when its journal is lost",
    fields: { processId: "<process>  the process's id, as listed by in-doubt" },
    rows: ({ data }) => data.map(toLeaseRow),
    json: ({ data }) => data.map(toLeaseRow),
  });
}

function toLeaseRow({ processId, budget, amount, since }: CommandOutput<"leases.list">["data"][number]) {
  return { process: processId, budget, amount, since };
}

function toRow(budget: CommandOutput<"budgets.update">) {
  return {
    id: budget.id,
    organization: budget.organizationId,
    key: budget.keyId ?? "(all)",
    amount: budget.amount,
    spent: budget.spent,
    left: formatNanos(amountCodec.decode(budget.amount) - amountCodec.decode(budget.spent)),
    held: budget.held,
    period: budget.period,
    since: budget.periodStart.slice(0, 10),
  };
}
