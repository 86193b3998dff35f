import type { Command } from "commander";
import { listAudit } from "../admin/ledger.ts";
import type { AuditRecord } from "../admin/ports.ts";
import type { CommandContext } from "./context.ts";
import { readCount } from "./options.ts";

/** `audit list` */
export function addAuditCommands(program: Command, cli: CommandContext): void {
  const audit = program.command("audit").description("who changed what, and when");
  audit
    .command("list")
    .description("list changes, newest first")
    .option("--subject <id>", "of this organization, key, price, budget, charge or model only")
    .option("--limit <n>", "most changes", readCount, 50)
    .option("--json", "print JSON")
    .action(async ({ json, ...filter }: { subject?: string; limit: number; json?: boolean }) => {
      const records = await cli.administer((admin) => listAudit(admin, filter));
      cli.print(json, records.map(toView), records.map(toRow));
    });
}

function toView({ revision, at, ...record }: AuditRecord): object {
  return { revision: Number(revision), at: new Date(at).toISOString(), ...record };
}

function toRow({ revision, at, actor, kind, action, subject, before, after }: AuditRecord) {
  return {
    revision: String(revision),
    at: new Date(at).toISOString(),
    actor,
    // A correction is an entry of its own; nothing else of the ledger ever changes.
    change: kind === "ledger" ? action : `${action} ${kind}`,
    subject,
    fields: changedFields(before, after).join(", "),
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
