import { z } from "zod";
import { createAlert, listAlertEvents, listAlerts, removeAlert, updateAlert } from "./alerts.ts";
import { requireRunning } from "../context.ts";
import { operation } from "../operation.ts";
import { requireRecipients } from "./recipients.ts";
import { doneSchema, operatorMessageFields, pageOf } from "../output.ts";
import {
  alertChangeSchema,
  alertCreationSchema,
  alertEventListSchema,
  alertListSchema,
  alertSchema,
  toldEventSchema,
} from "./schema.ts";
import { inputError } from "../../domain/schema-problems.ts";

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
    output: pageOf(alertSchema).extend({
      hasMail: z.boolean().describe("False where no mail server is configured, so that no mail is sent"),
    }),
    run: listAlerts,
  }),
  "alerts.create": operation({
    method: "POST",
    path: "/alerts",
    summary:
      "Tell by mail or webhook, or list, when a budget is spent, requests fail, a vendor is out of service or anything is wrong",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: alertCreationSchema,
    output: alertSchema,
    run: (context, input) => createAlert(context, input),
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
    run: (context, { id, ...change }) => updateAlert(context, id, change),
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
    summary: "What rules have found, newest first, and what became of each message about it",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: alertEventListSchema,
    output: pageOf(toldEventSchema),
    run: listAlertEvents,
  }),
  "mail.test": operation({
    method: "POST",
    path: "/mail/test",
    summary: "Send a mail to an address now, and say whether the mail server took it",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: z.strictObject({ recipient: z.email({ error: inputError("input.email", {}) }) }),
    output: z.object({ isSent: z.boolean(), ...operatorMessageFields }),
    async run(context, { recipient }) {
      const running = requireRunning(context);
      await requireRecipients(context, [recipient], { field: "recipient" });
      const act = { kind: "mail", action: "test", subject: recipient } as const;
      await context.store.audit.note({ ...act, by: context.by, detail: {} });
      return await running.testMail(recipient);
    },
  }),
};
