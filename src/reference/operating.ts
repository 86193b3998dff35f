import { LOG_FIELDS } from "../telemetry/log-fields.table.ts";
import { ALERT_DATA, WEBHOOK_MESSAGES } from "../domain/webhook-message.table.ts";
import { code, list, type ReferencePage, sentence, table } from "./page.ts";

export function logFieldsPage(): ReferencePage {
  return {
    name: "log-fields",
    title: "Log fields",
    source: "the table of log fields",
    body: `The log is one line of JSON for each request, after its end, and one for each event outside of requests: start, stop, loss
and return of a dependency, recovery, and a target that goes out of service or comes back. Bodies, headers, prompts and keys are
never logged. A vendor's error text, which may quote a prompt, is logged at the level \`debug\` only.

## Fields

A field that does not apply is absent.

${list(Object.entries(LOG_FIELDS).map(([name, meaning]) => [code(name), sentence(meaning)]))}`,
  };
}

/** Returns the page of the messages that webhooks send. */
export function webhookEventsPage(): ReferencePage {
  return {
    name: "webhook-events",
    title: "Webhook events",
    source: "the table of webhook messages",
    body: `The body of a [webhook](../build/webhooks.md) is \`{"type", "timestamp", "data"}\`. Ignore types that you do not know: later
versions may send more.

${table(
  ["`type`", "When", "`data`"],
  Object.entries(WEBHOOK_MESSAGES).map(([type, { when, data }]) => [code(type), when, DATA[data]]),
)}

## The data of an alert

${list(Object.entries(ALERT_DATA).map(([name, meaning]) => [code(name), sentence(meaning)]))}

## Headers

The headers are those of Standard Webhooks: \`webhook-id\`, the same for every repetition of a message; \`webhook-timestamp\`, in
seconds; and \`webhook-signature\`, over both and the body.`,
  };
}

const DATA = {
  job: "The [job](../build/jobs.md#endpoints)",
  alert: "[The alert](#the-data-of-an-alert)",
} as const;
