import type { RequestEvent } from "../domain/request-event.ts";
import { redactPersonal } from "./redaction.ts";
import type { PromptRecord } from "../admin/prompts/schema.ts";

/** Most records that wait for the database; further ones are dropped. */
const MAX_WAITING = 500;
const DAY_MS = 24 * 60 * 60_000;

/** Collects prompts and replies of organizations that log them, until they are taken for the database. */
export class PromptRecorder {
  #events: RequestEvent[] = [];

  readonly listener = (event: RequestEvent): void => {
    if (event.content !== null && this.#events.length < MAX_WAITING) this.#events.push(event);
  };

  /** Takes at most so many records, oldest first. */
  take(limit: number): PromptRecord[] {
    return this.#events.splice(0, limit).flatMap(recordOf);
  }
}

function recordOf({ id, at, organizationId, keyId, model, content }: RequestEvent): PromptRecord[] {
  if (content === null || organizationId === null || keyId === null) return [];
  return [
    {
      id,
      at,
      organizationId,
      keyId,
      model,
      prompt: redactPersonal(content.prompt),
      reply: redactPersonal(content.reply),
      expiresAt: at + content.days * DAY_MS,
    },
  ];
}
