import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import { newId } from "../../lib/ids.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { requireVersion } from "../input.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { requireRecipients } from "./recipients.ts";
import { accessOf } from "../sign-in/signed-in.ts";
import { readCursor, toPage, type Page } from "../paging.ts";
import { shownAddress } from "../webhooks/shown-address.ts";
import {
  alertChangeSchema,
  alertCreationSchema,
  alertEventListSchema,
  alertListSchema,
  type AlertNotice,
  type AlertRecord,
} from "./schema.ts";

/**
 * Creates a rule. Throws 404 for an unknown organization or budget, 400 for an address that may not get mail, 409 for
 * too many rules, and 403 when the member may not create a rule of the installation.
 */
export async function createAlert(
  context: AdminContext,
  fields: z.output<typeof alertCreationSchema>,
  id: string = newId("alert"),
): Promise<AlertRecord> {
  await checkAlert(context, fields);
  await requireRecipients(context, fields.emails, { ...fields, field: "emails" });
  const { organizationId } = fields;
  const others = await context.store.alerts.page({ organizationId, limit: MAX_RULES });
  if (others.length >= MAX_RULES)
    throw new AdminError(409, null, operatorMessage("error.alerts.most", { most: MAX_RULES }));
  const rule = { ...fields, id, isDisabled: false, createdAt: context.clock.now() };
  return await context.store.alerts.create(rule, context.by);
}

/** Returns the rules of one organization or of all, oldest first. */
export async function listAlerts(
  context: AdminContext,
  input: z.output<typeof alertListSchema>,
): Promise<Page<AlertRecord> & { hasMail: boolean }> {
  const { cursor, limit, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, after: readCursor(cursor), limit: limit + 1 };
  const rules = toPage(await context.store.alerts.page(page), limit);
  return { ...rules, hasMail: context.catalogue.mail !== null };
}

/** Changes the fields that the input contains. Throws 404 for an unknown rule. */
export async function updateAlert(
  context: AdminContext,
  id: string,
  input: z.output<typeof alertChangeSchema>,
): Promise<AlertRecord> {
  const { version, ...fields } = input;
  const known = await getAlert(context, id);
  await checkAlert(context, { ...known, settings: fields.settings ?? known.settings });
  await requireRecipients(context, fields.emails ?? [], { ...known, field: "emails" });
  const change = (before: AlertRecord): Partial<AlertRule> => {
    requireVersion(before, version);
    return fields;
  };
  return (await context.store.alerts.update(id, change, context.by)) ?? (await getAlert(context, id));
}

/** Removes a rule. Throws 404 for an unknown rule. */
export async function removeAlert(context: AdminContext, id: string): Promise<void> {
  if (!(await context.store.alerts.remove(id, context.by))) throw unknownAlert(id);
}

/** Returns events that rules have found, newest first. */
export async function listAlertEvents(
  context: AdminContext,
  input: z.output<typeof alertEventListSchema>,
): Promise<Page<AlertEvent & { notices: AlertNotice[] }>> {
  const { cursor, limit, state, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, isOpen: state === "open", below: readCursor(cursor), limit: limit + 1 };
  const found = await context.store.alerts.events(page);
  const { next } = toPage(
    found.map(({ id, firedAt }) => ({ id, createdAt: firedAt })),
    limit,
  );
  const events = found.slice(0, limit);
  const notices = await context.store.alerts.notices(events.map(({ id }) => id));
  const shown = ({ way, to, ...notice }: AlertNotice): AlertNotice => ({
    ...notice,
    way,
    to: way === "webhook" ? shownAddress(context, to) : to,
  });
  const data = events.map((event) =>
    Object.assign({ notices: (notices.get(event.id) ?? []).map(shown) }, event),
  );
  return { data, next };
}

async function getAlert({ store }: AdminContext, id: string): Promise<AlertRecord> {
  const rule = await store.alerts.get(id);
  if (!rule) throw unknownAlert(id);
  return rule;
}

async function checkAlert(
  context: AdminContext,
  { organizationId, settings }: Pick<AlertRule, "organizationId" | "settings">,
): Promise<void> {
  if (organizationId !== null) await getOrganization(context, organizationId);
  else if (accessOf(context).organizations !== "*")
    throw new AdminError(403, "organizationId", operatorMessage("error.alerts.installation", {}));
  if (settings.kind !== "budget" || settings.budgetId === null) return;
  const budget = await context.store.budgets.get(settings.budgetId);
  if (budget && (organizationId === null || budget.organizationId === organizationId)) return;
  throw new AdminError(
    404,
    "settings.budgetId",
    operatorMessage("error.missing", { noun: "budget", id: settings.budgetId }),
  );
}

/** Maximum number of rules of one organization, or of the installation. Each check reads all of these rules. */
const MAX_RULES = 50;

function unknownAlert(id: string): AdminError {
  return new AdminError(404, "id", operatorMessage("error.missing", { noun: "alert", id }));
}
