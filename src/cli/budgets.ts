import type { Command } from "commander";
import type { CommandContext, Input, Output } from "./context.ts";
import { formatNanos, parseNanos, type Nanos } from "../lib/money.ts";
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
        const fields = { amount, organizationId, keyId, period: period as Input<"budgets.create">["period"] };
        const budget = await cli.run("budgets.create", fields);
        cli.print(json, budget, [toRow(budget)]);
      },
    );
  budgets
    .command("list")
    .description("list budgets, what is left of them, and how much of that processes hold for requests")
    .option("--org <id>", "of this organization only")
    .option("--json", "print JSON")
    .action(async ({ org, json }: { org?: string; json?: boolean }) => {
      const found = await cli.list("budgets.list", { organizationId: org });
      cli.print(json, found, found.map(toRow));
    });
  budgets
    .command("set")
    .description("change the amount; what was spent stays spent")
    .argument("<id>", "the budget's id, as listed")
    .requiredOption("--amount <decimal>", "new amount, for example 100.00")
    .option("--json", "print JSON")
    .action(async (id: string, { amount, json }: { amount: string; json?: boolean }) => {
      const budget = await cli.run("budgets.update", { id, amount });
      cli.print(json, budget, [toRow(budget)]);
    });
  budgets
    .command("remove")
    .description("remove a budget")
    .argument("<id>", "the budget's id, as listed")
    .action(async (id: string) => {
      await cli.run("budgets.remove", { id });
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
      const leases = await cli.list("leases.list", {});
      cli.print(json, leases.map(toLeaseRow), leases.map(toLeaseRow));
    });
  budgets
    .command("write-off")
    .description("return what such a process holds; only when its journal is lost")
    .argument("<process>", "the process's id, as listed by in-doubt")
    .option("--json", "print JSON")
    .action(async (processId: string, { json }: { json?: boolean }) => {
      const { data: leases } = await cli.run("leases.writeOff", { processId });
      cli.print(json, leases.map(toLeaseRow), leases.map(toLeaseRow));
    });
}

function toLeaseRow({ processId, budget, amount, since }: Output<"leases.list">["data"][number]) {
  return { process: processId, budget, amount, since };
}

function toRow(budget: Output<"budgets.update">) {
  const [amount, spent] = [budget.amount, budget.spent].map(parseSigned) as [Nanos, Nanos];
  return {
    id: budget.id,
    organization: budget.organizationId,
    key: budget.keyId ?? "(all)",
    amount: budget.amount,
    spent: budget.spent,
    left: formatNanos(amount - spent),
    held: budget.held,
    period: budget.period,
    since: budget.periodStart.slice(0, 10),
  };
}

/** Refunds can make what was spent negative. */
function parseSigned(decimal: string): Nanos {
  return decimal.startsWith("-") ? -parseNanos(decimal.slice(1)) : parseNanos(decimal);
}
