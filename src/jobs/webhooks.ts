import { Webhook } from "standardwebhooks";
import { writePagerDutyEvent, writeSlackMessage } from "../dialects/alert-formats.ts";
import { writeJob } from "../dialects/jobs/job.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import type { Links } from "../gateway/delivery/stored-blobs.ts";
import { SafeFetchError, type SafeFetch } from "../lib/safe-fetch.ts";
import { every, type BackgroundWork } from "../lib/waiting.ts";
import type { DueWebhook, WebhookQueue } from "./webhook-ports.ts";
import { random } from "../lib/random.ts";

export interface WebhookOptions {
  queue: WebhookQueue;
  safeFetch: Pick<SafeFetch, "post">;
  /** Returns the networks, besides the public internet, in which endpoints are allowed. */
  networks(): readonly string[];
  links: Links;
  /** Base address of links; null for the base address of the job's submission. */
  publicUrl: string | null;
  /** Returns the hours for which an organization's links are valid, or null for the default. */
  linkHoursOf(organizationId: string): number | null;
  now(): number;
  onProblem(message: string, cause: unknown): void;
}

const MINUTE_MS = 60_000;
/** The pauses before the second and later attempts. Eight attempts take about sixteen hours. */
const RETRY_MS = [
  5_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  120 * MINUTE_MS,
  300 * MINUTE_MS,
  480 * MINUTE_MS,
];
const POLL_MS = 1_000;
const AT_ONCE = 16;
/** Longest wait that a receiver may request with `retry-after`. */
const MAX_ASKED_MS = 60 * MINUTE_MS;
/** Status 410 says that an address is permanently gone. */
const GONE = 410;
/** Statuses from 400 to 499 after which a later attempt may succeed. */
const TRANSIENT = new Set([408, 425, 429]);

/**
 * Sends messages until the returned work is stopped. A message may be sent more than once. Messages of the format
 * `standard` are signed according to Standard Webhooks. Calls only allowed addresses and follows no redirects.
 */
export function startWebhooks(options: WebhookOptions): BackgroundWork {
  const stopping = new AbortController();
  const work = every(
    POLL_MS,
    async () => {
      while (!stopping.signal.aborted && (await sendDue(options)) > 0);
    },
    (error) => options.onProblem("webhooks were not sent", error),
  );
  return {
    stop() {
      stopping.abort();
      return work.stop();
    },
  };
}

/** Sends some of the due messages; organizations take turns. Returns the number of messages that were tried. */
export async function sendDue(options: WebhookOptions): Promise<number> {
  const due = await options.queue.due(AT_ONCE);
  await Promise.all(due.map((message) => send(options, message)));
  return due.length;
}

async function send(options: WebhookOptions, message: DueWebhook): Promise<void> {
  const { queue } = options;
  const content = contentOf(options, message);
  if (content === null) return await queue.failed(message.id, operatorMessage("delivery.removed", {}), null);
  const { result, isDelivered, isFinal, askedMs = 0 } = await post(options, message, content);
  if (isDelivered) return await queue.delivered(message.id, result);
  const waitMs = RETRY_MS[message.attempts - 1];
  const retryMs = isFinal || waitMs === undefined ? null : Math.max(jittered(waitMs), askedMs);
  await queue.failed(message.id, result, retryMs);
}

/** Adds jitter, so that messages that failed together are not all sent again at the same time. */
function jittered(milliseconds: number): number {
  return Math.round(milliseconds * (0.9 + random() * 0.2));
}

async function post(
  { safeFetch, networks }: WebhookOptions,
  { url, organizationId, format, isOfEndpoint }: DueWebhook,
  { body, headers }: { body: string; headers: Record<string, string> },
): Promise<{ result: OperatorMessage; isDelivered: boolean; isFinal: boolean; askedMs?: number }> {
  try {
    const { status, retryAfter } = await safeFetch.post(url, {
      body,
      headers,
      tenant: organizationId,
      networks: isOfEndpoint ? networks() : [],
    });
    const isDelivered = status >= 200 && status < 300;
    // A refusal by Slack or PagerDuty is permanent, because the address, the key or the message is wrong. A refusal by
    // the operator's own receiver is not permanent, because the operator may correct the receiver.
    const isRefused = format !== "standard" && status >= 400 && status < 500 && !TRANSIENT.has(status);
    const askedMs = Math.min(Number(retryAfter ?? 0) * 1_000 || 0, MAX_ASKED_MS);
    const result = operatorMessage("delivery.status", { status });
    return { result, isDelivered, isFinal: status === GONE || isRefused, askedMs };
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    const isFinal = error.reason === "not_allowed";
    const result = isFinal
      ? operatorMessage("delivery.notAllowed", {})
      : operatorMessage("delivery.noAnswer", { detail: error.detail });
    return { result, isDelivered: false, isFinal };
  }
}

/** Returns the body and its headers; null when the endpoint or job of the message was removed. */
function contentOf(
  options: WebhookOptions,
  message: DueWebhook,
): { body: string; headers: Record<string, string> } | null {
  const { event, format, secrets, content } = message;
  if (format === "standard") return signedContent(options, message);
  const [routingKey] = secrets;
  if (content === null || routingKey === undefined) return null;
  const body =
    format === "slack"
      ? writeSlackMessage(event, content.data)
      : writePagerDutyEvent(event, content.data, routingKey);
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

/**
 * Returns the body and headers with one signature for each secret; null when the message has no content or no secret.
 */
function signedContent(
  options: WebhookOptions,
  message: DueWebhook,
): { body: string; headers: Record<string, string> } | null {
  const { id, event, secrets } = message;
  const content = message.content ?? jobContent(options, message);
  if (content === null || secrets.length === 0) return null;
  const at = new Date(options.now());
  const timestamp = new Date(content.at).toISOString();
  const body = JSON.stringify({ type: event, timestamp, data: content.data });
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
  return {
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": signatures.join(" "),
    },
  };
}

function jobContent(
  { links, linkHoursOf, publicUrl }: WebhookOptions,
  { job, linkBase }: DueWebhook,
): { data: unknown; at: number } | null {
  if (!job) return null;
  const base = publicUrl ?? linkBase ?? "";
  const hours = linkHoursOf(job.organizationId);
  const data = writeJob(job, (name) => links.sign(base, name, hours));
  return { data, at: job.endedAt ?? job.readAt };
}
