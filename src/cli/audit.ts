import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addOperation } from "./operation-command.ts";
import { countText } from "../lib/count-text.ts";

export function addAuditCommands(program: Command, cli: CommandContext): void {
  const audit = program.command("audit").description("who changed what, and when");
  addOperation(audit, cli, ["list", "audit.list"], {
    description: "list changes, newest first",
    fields: {
      subject: "--subject <id>  of this organization, key, price, budget, charge or model only",
      limit: { usage: "--limit <n>  most changes", default: 50 },
    },
    rows: ({ data }) => data.map(toRow),
    json: ({ data }) => data,
  });
  addOperation(audit, cli, ["verify", "audit.verify"], {
    description: "check the chain of hashes over all changes; fails when a row was changed or removed",
    fields: {
      head: "--head <hash>  a head that an earlier run printed, which must still be in the chain",
    },
    step: "Checking the chain.",
    rows: ({ faults }) =>
      faults.length === 0
        ? null
        : faults.map(({ revision, fault }) => ({ revision: String(revision ?? "end"), fault })),
    line: ({ rows, head }) => `Checked ${countText(rows, "row")}. Head: ${head ?? "none"}`,
    failure: ({ faultCount }) =>
      faultCount === 0 ? null : `the audit has ${countText(faultCount, "fault")}`,
  });
}

type AuditView = CommandOutput<"audit.list">["data"][number];

function toRow({
  revision,
  at,
  actor,
  source,
  kind,
  action,
  subject,
  subjectName,
  before,
  after,
}: AuditView) {
  return {
    revision: String(revision),
    at,
    actor,
    // The kind `ledger` is not shown, because its actions, such as `refund`, already tell the kind.
    change: kind === "ledger" ? action : `${action} ${kind}`,
    subject,
    name: subjectName ?? "",
    fields: changedFields(before, after).join(", "),
    source: source ?? "",
  };
}

/** Returns the names of the changed fields; all fields when a row was created or removed. */
function changedFields(before: unknown, after: unknown): string[] {
  const old = fieldsOf(before);
  const now = fieldsOf(after);
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !Bun.deepEquals(old[name], now[name]));
}

function fieldsOf(row: unknown): Record<string, unknown> {
  return typeof row === "object" && row !== null ? { ...row } : {};
}
