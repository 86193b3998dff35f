import type { Command } from "commander";
import type { CommandContext, Output } from "./context.ts";
import { readCount } from "./options.ts";

/** `audit list|verify` */
export function addAuditCommands(program: Command, cli: CommandContext): void {
  const audit = program.command("audit").description("who changed what, and when");
  audit
    .command("list")
    .description("list changes, newest first")
    .option("--subject <id>", "of this organization, key, price, budget, charge or model only")
    .option("--limit <n>", "most changes", readCount, 50)
    .option("--json", "print JSON")
    .action(async ({ json, ...filter }: { subject?: string; limit: number; json?: boolean }) => {
      const { data } = await cli.run("audit.list", filter);
      cli.print(json, data, data.map(toRow));
    });
  audit
    .command("verify")
    .description("check the chain of hashes over all changes; fails when a row was changed or removed")
    .option("--head <hash>", "a head that an earlier run printed, which must still be in the chain")
    .option("--json", "print JSON")
    .action(async ({ head, json }: { head?: string; json?: boolean }) => {
      const verification = await cli.run("audit.verify", { head });
      const { rows, faults, faultCount } = verification;
      if (json) cli.print(true, verification, []);
      else {
        if (faultCount > 0)
          cli.print(
            false,
            null,
            faults.map(({ revision, fault }) => ({ revision: String(revision ?? "end"), fault })),
          );
        cli.printLine(`Checked ${rows} rows. Head: ${verification.head ?? "none"}`);
      }
      if (faultCount > 0) throw new Error(`the audit has ${faultCount} fault${faultCount === 1 ? "" : "s"}`);
    });
}

type AuditView = Output<"audit.list">["data"][number];

function toRow({ revision, at, actor, source, kind, action, subject, before, after }: AuditView) {
  return {
    revision: String(revision),
    at,
    actor,
    // A correction is an entry of its own; nothing else of the ledger ever changes.
    change: kind === "ledger" ? action : `${action} ${kind}`,
    subject,
    fields: changedFields(before, after).join(", "),
    source: source ?? "",
  };
}

/** The fields that a change has changed; all of them where a row was made or removed. */
function changedFields(before: unknown, after: unknown): string[] {
  const old = fieldsOf(before);
  const now = fieldsOf(after);
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !Bun.deepEquals(old[name], now[name]));
}

function fieldsOf(row: unknown): Record<string, unknown> {
  return typeof row === "object" && row !== null ? { ...row } : {};
}
