import type { Command } from "commander";
import {
  createBudget,
  listBudgets,
  listLeasesInDoubt,
  removeBudget,
  updateBudget,
  writeOffLeases,
} from "../admin/budgets.ts";
import type { BudgetRecord, LeaseInDoubt } from "../admin/budget-ports.ts";
import { formatNanos } from "../lib/money.ts";
import type { CommandContext } from "./context.ts";
import { readWord } from "./options.ts";

/** `budgets create|list|set|remove|in-doubt|write-off` */
export function addBudgetCommands(program: Command, cli: CommandContext): void {
  const budgets = program.command("budgets").description("hard stops on spending");
  budgets
    .command("create")
    .description("limit what an organization, or one of its keys, may spend")
    .requiredOption("--amount <decimal>", "in the organization's currency, for example 100.00")
    .option("--org <id>", "organization", "default")
    .option("--key <id>", "of this key only")
    .option(
      "--period <total|day|month>",
      "how often it starts anew, in UTC",
      readWord("total", "day", "month"),
      "total",
    )
    .option("--json", "print JSON")
    .action(
      async (options: { amount: string; org: string; key?: string; period: string; json?: boolean }) => {
        const { amount, org: organizationId, key: keyId, period, json } = options;
        const budget = await cli.administer((admin) =>
          createBudget(admin, { amount, organizationId, keyId, period }),
        );
        cli.print(json, toView(budget), [toRow(budget)]);
      },
    );
  budgets
    .command("list")
    .description("list budgets and what is left of them")
    .option("--org <id>", "of this organization only")
    .option("--json", "print JSON")
    .action(async ({ org, json }: { org?: string; json?: boolean }) => {
      const { data: records } = await cli.administer((admin) =>
        listBudgets(admin, { organizationId: org, limit: 1000 }),
      );
      cli.print(json, records.map(toView), records.map(toRow));
    });
  budgets
    .command("set")
    .description("change the amount; what was spent stays spent")
    .argument("<id>", "the budget's id, as listed")
    .requiredOption("--amount <decimal>", "new amount, for example 100.00")
    .option("--json", "print JSON")
    .action(async (id: string, { amount, json }: { amount: string; json?: boolean }) => {
      const budget = await cli.administer((admin) => updateBudget(admin, id, { amount }));
      cli.print(json, toView(budget), [toRow(budget)]);
    });
  budgets
    .command("remove")
    .description("remove a budget")
    .argument("<id>", "the budget's id, as listed")
    .action(async (id: string) => {
      await cli.administer((admin) => removeBudget(admin, id));
      cli.printLine(`Budget ${id} is removed.`);
    });
  addInDoubtCommands(budgets, cli);
}

function addInDoubtCommands(budgets: Command, cli: CommandContext): void {
  budgets
    .command("in-doubt")
    .description("list what processes hold that vanished without their journal being posted")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const leases = await cli.administer(listLeasesInDoubt);
      cli.print(json, leases.map(toLeaseRow), leases.map(toLeaseRow));
    });
  budgets
    .command("write-off")
    .description("return what such a process holds; only when its journal is lost")
    .argument("<process>", "the process's id, as listed by in-doubt")
    .option("--json", "print JSON")
    .action(async (processId: string, { json }: { json?: boolean }) => {
      const leases = await cli.administer((admin) => writeOffLeases(admin, processId));
      cli.print(json, leases.map(toLeaseRow), leases.map(toLeaseRow));
    });
}

function toLeaseRow({ processId, budget, amount, since }: LeaseInDoubt) {
  return { process: processId, budget, amount: formatNanos(amount), since: new Date(since).toISOString() };
}

function toView(budget: BudgetRecord): object {
  return {
    ...budget,
    amount: formatNanos(budget.amount),
    spent: formatNanos(budget.spent),
    held: formatNanos(budget.held),
    periodStart: new Date(budget.periodStart).toISOString(),
    createdAt: new Date(budget.createdAt).toISOString(),
  };
}

function toRow(budget: BudgetRecord) {
  return {
    id: budget.id,
    organization: budget.organizationId,
    key: budget.keyId ?? "(all)",
    amount: formatNanos(budget.amount),
    spent: formatNanos(budget.spent),
    held: formatNanos(budget.held),
    left: formatNanos(budget.amount - budget.spent - budget.held),
    period: budget.period,
    since: new Date(budget.periodStart).toISOString().slice(0, 10),
  };
}
