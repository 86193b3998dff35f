import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import type { Actor } from "../actor.ts";
import type { ListPage, ListPosition } from "../list-page.ts";
import type { AlertNotice, AlertRecord } from "./schema.ts";

export interface AlertAdminStore {
  create(rule: AlertRule, by: Actor): Promise<AlertRecord>;
  get(id: string): Promise<AlertRecord | null>;
  /** Oldest first. */
  page(page: ListPage & AlertFilter): Promise<AlertRecord[]>;
  /** Writes the rule that `change` returns for the present one. Null when there is none. */
  update(
    id: string,
    change: (before: AlertRecord) => Partial<Omit<AlertRule, "id" | "organizationId" | "createdAt">>,
    by: Actor,
  ): Promise<AlertRecord | null>;
  /** False when there is no such rule. */
  remove(id: string, by: Actor): Promise<boolean>;
  /** Events that rules have found, newest first. */
  events(
    page: AlertFilter & { isOpen?: boolean; below?: ListPosition; limit: number },
  ): Promise<AlertEvent[]>;
  /** The messages about events of these organizations, or of all, by the id of each. */
  notices(
    eventIds: readonly string[],
    organizationIds?: readonly string[],
  ): Promise<ReadonlyMap<string, AlertNotice[]>>;
  /** The targets that processes reported as out of service, for one organization; null reads those of all. */
  ejections(): Promise<{ target: string; organizationId: string | null; reason: string; since: number }[]>;
  /**
   * The alert messages of these organizations, or of all, that failed within a day or have waited too long, with the
   * reason given for the newest.
   */
  undelivered(organizationIds?: readonly string[]): Promise<Undelivered[]>;
}

export interface Undelivered {
  way: "mail" | "webhook";
  count: number;
  /** Unix milliseconds of the oldest. */
  since: number;
  result: string | null;
}

/** Filter by organization: an absent field matches every rule, null matches those of the installation. */
interface AlertFilter {
  organizationId?: string | null;
  organizationIds?: readonly string[];
}
