import type { AlertData, WebhookMessageType } from "../domain/webhook-message.table.ts";

/** Maximum number of characters in the text of a section (Slack, Block Kit). */
const MAX_TEXT = 3_000;

/**
 * Writes an alert for an incoming webhook of Slack. `text` contains the same as the blocks, because receivers without
 * support for blocks, such as Mattermost, show only `text`.
 */
export function writeSlackMessage(type: WebhookMessageType, data: AlertData): object {
  const { alert_name: name, severity, message, link, installation, organization_id: organization } = data;
  const word = type === "alert.resolved" ? "over" : severity;
  const title = `*${escaped(`${word}: ${name}`)}*`;
  const where = [installation, organization].filter((part) => part !== null).map((part) => escaped(part));
  const time = data.resolved_at ?? data.fired_at;
  const foot = [
    ...where,
    ...(time === null ? [] : [time]),
    ...(link === null ? [] : [`<${link}|Alerts>`]),
  ].join(" · ");
  const body = cut(`${title}\n${escaped(message ?? "")}`);
  return {
    text: `${body}\n${foot}`,
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: body } },
      { type: "context", elements: [{ type: "mrkdwn", text: foot }] },
    ],
  };
}

/** Escapes the three characters that Slack reads as markup (Slack, Formatting text, Escaping). */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).replace(/&[a-z]{0,3}$/, "")}…`;
}

/** The address of the Events API v2. Accounts in PagerDuty's European region use another address. */
export const PAGERDUTY_ADDRESS = "https://events.pagerduty.com/v2/enqueue";

/** Maximum number of characters in the summary of an event (PagerDuty, Events API v2). */
const MAX_SUMMARY = 1_024;

/**
 * Writes an alert as an event of PagerDuty's Events API v2. The start and the end of an alert have the same
 * `dedup_key`. Therefore the end resolves the incident, and a repeated start opens no second incident.
 */
export function writePagerDutyEvent(type: WebhookMessageType, data: AlertData, routingKey: string): object {
  const { id, alert_name: name, installation, severity, message, link, subject, kind } = data;
  const event = { routing_key: routingKey, dedup_key: id };
  if (type === "alert.resolved") return { ...event, event_action: "resolve" };
  return {
    ...event,
    event_action: "trigger",
    client: installation,
    ...(link !== null && { client_url: link }),
    payload: {
      summary: `${name}: ${message}`.slice(0, MAX_SUMMARY),
      source: installation,
      severity,
      timestamp: data.fired_at,
      component: subject,
      class: kind,
      ...(data.organization_id !== null && { group: data.organization_id }),
      custom_details: data,
    },
  };
}
