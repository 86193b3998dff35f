/** Every type of message to webhooks, with the situation in which it is sent and the kind of its data. */
export const WEBHOOK_MESSAGES = {
  "job.completed": { when: "A job has its pictures", data: "job" },
  "job.failed": { when: "A job has failed for good", data: "job" },
  "job.cancelled": { when: "A job was cancelled", data: "job" },
  "alert.fired": { when: "An alert's rule has found something", data: "alert" },
  "alert.resolved": { when: "It holds no more; not sent of budgets", data: "alert" },
} as const;

/** The fields in the data of an alert's message, with their meanings. */
export const ALERT_DATA = {
  id: "Id of what was found",
  alert_id: "Id of the rule",
  alert_name: "Name of the rule",
  installation: "Host of `server.public_url`, by which several gateways are told apart",
  kind: "What the rule watches: `budget`, `error_rate`, `ejection` or `status`",
  severity: "`warning` or `critical`",
  organization_id: "The organization; null for a rule of the installation",
  subject: "What it concerns: a budget, an organization, a target or a part of the gateway",
  message: "One sentence about it",
  link: "The console's page; null without `server.public_url`",
  fired_at: "When it was found",
  resolved_at: "When it ended; null while it holds",
} as const;

export type AlertData = Record<keyof typeof ALERT_DATA, string | null>;

export type WebhookMessageType = keyof typeof WEBHOOK_MESSAGES;

/**
 * Formats of the messages to an endpoint. `standard` endpoints get messages about jobs and alerts. Endpoints with other
 * formats get only messages about alerts.
 */
export const WEBHOOK_FORMATS = ["standard", "slack", "pagerduty"] as const;

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
