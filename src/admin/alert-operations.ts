import { z } from "zod";
import type { AlertEvent } from "../domain/alert.ts";
import type { AlertRecord } from "./alert-ports.ts";
import {
  alertChangeSchema,
  alertCreationSchema,
  alertEventListSchema,
  alertListSchema,
  createAlert,
  listAlertEvents,
  listAlerts,
  removeAlert,
  updateAlert,
} from "./alerts.ts";
import { requireRunning } from "./context.ts";
import { operation } from "./operation.ts";
import { requireRecipients } from "./recipients.ts";
import { doneSchema, isoTime, isoTimeSchema, pageOf, versionViewSchema } from "./output.ts";

const alertSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  settings: z.discriminatedUnion("kind", [
    z.object({
      kind: z.literal("budget"),
      percents: z.array(z.int()).describe("Shares of the amount, in percent"),
      budgetId: z.string().nullable().describe("Null is every budget of the organization and its keys"),
    }),
    z.object({ kind: z.literal("error_rate"), percent: z.int(), minutes: z.int(), minRequests: z.int() }),
    z.object({ kind: z.literal("ejection"), seconds: z.int() }),
  ]),
  emails: z.array(z.string()),
  usesWebhooks: z.boolean().describe("Whether the organization's webhook endpoints get a message"),
  isDisabled: z.boolean(),
  createdAt: isoTimeSchema,
  version: versionViewSchema,
});

const eventSchema = z.object({
  id: z.string(),
  alertId: z.string(),
  organizationId: z.string(),
  alertName: z.string(),
  kind: z.enum(["budget", "error_rate", "ejection"]),
  subject: z.string().describe("A budget's id, a target, or `requests`"),
  message: z.string(),
  firedAt: isoTimeSchema,
  resolvedAt: isoTimeSchema.nullable().describe("Null while it lasts"),
});

const idSchema = z.strictObject({ id: z.string() });

export const alertOperations = {
  "alerts.list": operation({
    method: "GET",
    path: "/alerts",
    summary: "Rules by which an organization is told that something needs attention, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: alertListSchema,
    output: pageOf(alertSchema),
    async run(context, input) {
      const { data, next } = await listAlerts(context, input);
      return { data: data.map(toView), next };
    },
  }),
  "alerts.create": operation({
    method: "POST",
    path: "/alerts",
    summary: "Tell by mail or webhook when a budget is spent, requests fail or a vendor is out of service",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: alertCreationSchema,
    output: alertSchema,
    run: async (context, input) => toView(await createAlert(context, input)),
  }),
  "alerts.update": operation({
    method: "PATCH",
    path: "/alerts/{id}",
    summary: "Change what the body names; everything else stays",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: alertChangeSchema.extend(idSchema.shape),
    output: alertSchema,
    run: async (context, { id, ...change }) => toView(await updateAlert(context, id, change)),
  }),
  "alerts.remove": operation({
    method: "DELETE",
    path: "/alerts/{id}",
    summary: "Remove a rule; what it has found stays listed",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeAlert(context, id);
      return { done: true as const };
    },
  }),
  "alerts.events": operation({
    method: "GET",
    path: "/alert-events",
    summary: "What rules have found, newest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: alertEventListSchema,
    output: pageOf(eventSchema),
    async run(context, input) {
      const { data, next } = await listAlertEvents(context, input);
      return { data: data.map(toEventView), next };
    },
  }),
  "mail.test": operation({
    method: "POST",
    path: "/mail/test",
    summary: "Send a mail to an address now, and say whether the mail server took it",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: z.strictObject({ recipient: z.email() }),
    output: z.object({ isSent: z.boolean(), message: z.string() }),
    async run(context, { recipient }) {
      const running = requireRunning(context);
      await requireRecipients(context, [recipient], { field: "recipient" });
      const act = { kind: "mail", action: "test", subject: recipient } as const;
      await context.store.audit.note({ ...act, by: context.by, detail: {} });
      return await running.testMail(recipient);
    },
  }),
};

function toView({ createdAt, settings, emails, ...rule }: AlertRecord): z.input<typeof alertSchema> {
  const percents = settings.kind === "budget" && { percents: [...settings.percents] };
  return {
    ...rule,
    settings: { ...settings, ...percents } as z.input<typeof alertSchema>["settings"],
    emails: [...emails],
    createdAt: isoTime(createdAt),
  };
}

function toEventView({ firedAt, resolvedAt, ...event }: AlertEvent): z.input<typeof eventSchema> {
  return {
    ...event,
    firedAt: isoTime(firedAt),
    resolvedAt: resolvedAt === null ? null : isoTime(resolvedAt),
  };
}
