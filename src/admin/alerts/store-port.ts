import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import type { Actor } from "../actor.ts";
import type { ListPage, ListPosition } from "../list-page.ts";
import type { AlertNotice, AlertRecord } from "./schema.ts";

export interface AlertAdminStore {
  create(rule: AlertRule, by: Actor): Promise<AlertRecord>;
  get(id: string): Promise<AlertRecord | null>;
  /** Returns a page of rules, oldest first. */
  page(page: ListPage & AlertFilter): Promise<AlertRecord[]>;
  /**
   * Replaces the fields of a rule that `change` returns for its current state. Returns null when there is no such rule.
   */
  update(
    id: string,
    change: (before: AlertRecord) => Partial<Omit<AlertRule, "id" | "organizationId" | "createdAt">>,
    by: Actor,
  ): Promise<AlertRecord | null>;
  /** Removes a rule. Returns false when there is no such rule. */
  remove(id: string, by: Actor): Promise<boolean>;
  /** Returns events that rules have found, newest first. */
  events(
    page: AlertFilter & { isOpen?: boolean; below?: ListPosition; limit: number },
  ): Promise<AlertEvent[]>;
  /**
   * Returns the messages about events, by the event's id. With `organizationIds`, only messages of these organizations.
   */
  notices(
    eventIds: readonly string[],
    organizationIds?: readonly string[],
  ): Promise<ReadonlyMap<string, AlertNotice[]>>;
  /**
   * Returns the targets that processes have reported as out of service. `organizationId` is null for a target that is
   * out of service for all organizations.
   */
  ejections(): Promise<{ target: string; organizationId: string | null; reason: string; since: number }[]>;
  /**
   * Counts the alert messages that were not delivered. A message counts when it failed and is less than a day old, when
   * it waits for a further attempt, or when it has waited too long for its first attempt. `organizationIds` restricts
   * the messages to these organizations.
   */
  undelivered(organizationIds?: readonly string[]): Promise<Undelivered[]>;
}

export interface Undelivered {
  way: "mail" | "webhook";
  count: number;
  /** Unix milliseconds of the oldest undelivered message. */
  since: number;
}

/** Filter by organization: an absent field matches every row, null matches the rows of the installation. */
interface AlertFilter {
  organizationId?: string | null;
  organizationIds?: readonly string[];
}
