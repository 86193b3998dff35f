import { z } from "zod";
import { addKey, addOrganization, type SourceBudget } from "./access.ts";
import { decimalOf, type ImportDraft } from "./draft.ts";
import { number, type SourceFiles, text } from "./source-files.ts";

const limited = { max_budget: number, budget_duration: text, rpm_limit: number, tpm_limit: number };
/** Schemas of the responses of `/key/list?return_full_object=true` and `/team/list`. */
const keysSchema = z.looseObject({
  keys: z.array(
    z.looseObject({
      key_alias: text,
      key_name: text,
      models: z.array(z.string()).nullish(),
      team_id: text,
      expires: text,
      blocked: z.boolean().nullish(),
      ...limited,
    }),
  ),
});
const teamsSchema = z.array(z.looseObject({ team_id: z.string(), team_alias: text, ...limited }));

/** Imports teams as organizations, then imports keys. */
export function importLiteLlmAccess(draft: ImportDraft, files: SourceFiles): void {
  const organizations = new Map<string, string>();
  for (const { team_id: id, team_alias: alias, ...limits } of files.read(teamsSchema).flat()) {
    const name = alias ?? id;
    const budget = budgetOf(draft, `team ${name}`, limits);
    organizations.set(id, addOrganization(draft, { name, budget }));
  }
  for (const keys of files.read(keysSchema)) importKeys(draft, keys, organizations);
}

function importKeys(
  draft: ImportDraft,
  { keys }: z.output<typeof keysSchema>,
  organizations: ReadonlyMap<string, string>,
): void {
  for (const key of keys) {
    const name = key.key_alias ?? key.key_name ?? "imported";
    addKey(draft, {
      name,
      organizationId: organizations.get(key.team_id ?? ""),
      models: key.models?.filter((model) => model !== "all-team-models" && model !== "all-proxy-models"),
      requestsPerMinute: key.rpm_limit,
      tokensPerMinute: key.tpm_limit,
      expiresAt: key.expires ? new Date(key.expires) : undefined,
      isDisabled: key.blocked ?? undefined,
      budget: budgetOf(draft, `key ${name}`, key),
    });
  }
}

const PERIODS: Readonly<Record<string, SourceBudget["period"]>> = {
  "1d": "day",
  "24h": "day",
  "1mo": "month",
  "30d": "month",
};

function budgetOf(
  draft: ImportDraft,
  subject: string,
  { max_budget: amount, budget_duration: duration }: { max_budget?: number; budget_duration?: string },
): SourceBudget | undefined {
  if (amount === undefined) return undefined;
  const period = duration ? PERIODS[duration] : "total";
  if (period === undefined) draft.note(subject, `has a budget for ${duration}, which is one of a month here`);
  return { amount: decimalOf(amount), period: period ?? "month" };
}
