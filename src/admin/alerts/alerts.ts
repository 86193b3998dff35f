import { z } from "zod";
import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import { newId } from "../../lib/ids.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { requireVersion } from "../input.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { requireRecipients } from "./recipients.ts";
import { readCursor, toPage, type Page } from "../paging.ts";
import {
  alertChangeSchema,
  alertCreationSchema,
  alertEventListSchema,
  alertListSchema,
  type AlertRecord,
} from "./schema.ts";

/** Creates a rule. Throws 404 for an unknown organization or budget, 400 for a rule that tells nobody. */
export async function createAlert(
  context: AdminContext,
  fields: z.output<typeof alertCreationSchema>,
  id: string = newId("alert"),
): Promise<AlertRecord> {
  await getOrganization(context, fields.organizationId);
  await checkAlert(context, fields);
  await requireRecipients(context, fields.emails, { ...fields, field: "emails" });
  const { organizationId } = fields;
  const others = await context.store.alerts.page({ organizationId, limit: MAX_RULES });
  if (others.length >= MAX_RULES)
    throw new AdminError(409, null, `the organization has ${MAX_RULES} alerts already; remove one`);
  const rule = { ...fields, id, isDisabled: false, createdAt: context.clock.now() };
  return await context.store.alerts.create(rule, context.by);
}

/** Rules of one organization or of all, oldest first. */
export async function listAlerts(
  context: AdminContext,
  input: z.output<typeof alertListSchema>,
): Promise<Page<AlertRecord>> {
  const { cursor, limit, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, after: readCursor(cursor), limit: limit + 1 };
  return toPage(await context.store.alerts.page(page), limit);
}

/** Changes what the input names. Throws 404 for an unknown rule. */
export async function updateAlert(
  context: AdminContext,
  id: string,
  input: z.output<typeof alertChangeSchema>,
): Promise<AlertRecord> {
  const { version, ...fields } = input;
  const known = await getAlert(context, id);
  const { settings = known.settings, emails = known.emails, usesWebhooks = known.usesWebhooks } = fields;
  await checkAlert(context, { ...known, settings, emails, usesWebhooks });
  await requireRecipients(context, fields.emails ?? [], { ...known, field: "emails" });
  const change = (before: AlertRecord): Partial<AlertRule> => {
    requireVersion(before, version);
    return fields;
  };
  return (await context.store.alerts.update(id, change, context.by)) ?? (await getAlert(context, id));
}

/** Throws 404 for an unknown rule. */
export async function removeAlert(context: AdminContext, id: string): Promise<void> {
  if (!(await context.store.alerts.remove(id, context.by))) throw unknownAlert(id);
}

/** Events that rules have found, newest first. */
export async function listAlertEvents(
  context: AdminContext,
  input: z.output<typeof alertEventListSchema>,
): Promise<Page<AlertEvent>> {
  const { cursor, limit, state, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, isOpen: state === "open", below: readCursor(cursor), limit: limit + 1 };
  const found = await context.store.alerts.events(page);
  const { next } = toPage(
    found.map(({ id, firedAt }) => ({ id, createdAt: firedAt })),
    limit,
  );
  return { data: found.slice(0, limit), next };
}

async function getAlert({ store }: AdminContext, id: string): Promise<AlertRecord> {
  const rule = await store.alerts.get(id);
  if (!rule) throw unknownAlert(id);
  return rule;
}

async function checkAlert(
  { store }: AdminContext,
  { organizationId, settings, emails, usesWebhooks }: Omit<AlertRule, "id" | "createdAt" | "isDisabled">,
): Promise<void> {
  if (emails.length === 0 && !usesWebhooks)
    throw new AdminError(400, "emails", "the rule would tell nobody: name addresses or use the webhooks");
  if (settings.kind !== "budget" || settings.budgetId === null) return;
  const budget = await store.budgets.get(settings.budgetId);
  if (budget?.organizationId !== organizationId)
    throw new AdminError(404, "settings.budgetId", `there is no budget "${settings.budgetId}"`);
}

/** Most rules of one organization: each check reads all of them, and each may send mails to anybody. */
const MAX_RULES = 50;

function unknownAlert(id: string): AdminError {
  return new AdminError(404, "id", `there is no alert "${id}"`);
}
