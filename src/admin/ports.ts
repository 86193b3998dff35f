/**
 * What administration needs from the store. Every change bumps the store's revision, by which running gateways
 * notice it, and leaves an audit row in the same transaction.
 */
import type { Scope } from "../domain/api-key.ts";
import type { Limits } from "../domain/limits.ts";
import type { OrganizationSettings } from "../domain/organization.ts";
import type { PriceAmounts } from "../domain/price.ts";
import type { Actor } from "./actor.ts";
import type { AlertAdminStore } from "./alert-ports.ts";
import type { PromptStore } from "./prompt-ports.ts";
import type { AuditStore } from "./audit-ports.ts";
import type { BudgetAdminStore } from "./budget-ports.ts";
import type { ConfigurationStore } from "./configuration-ports.ts";
import type { JobAdminStore } from "./job-ports.ts";
import type { LedgerAdminStore } from "./ledger-ports.ts";
import type { ListPage, OrganizationFilter } from "./list-page.ts";
import type { AdminTokenStore, MemberStore, SessionStore, SignInAttemptStore } from "./member-ports.ts";
import type { PictureStore, RequestStore, UsageStore } from "./usage-ports.ts";
import type { WebhookStore } from "./webhook-ports.ts";

export type { Actor } from "./actor.ts";
export type * from "./audit-ports.ts";

export interface AdminStore {
  organizations: OrganizationStore;
  keys: KeyStore;
  prices: PriceStore;
  budgets: BudgetAdminStore;
  members: MemberStore;
  sessions: SessionStore;
  adminTokens: AdminTokenStore;
  signInAttempts: SignInAttemptStore;
  linkSecrets: LinkSecretStore;
  webhooks: WebhookStore;
  jobs: JobAdminStore;
  configuration: ConfigurationStore;
  ledger: LedgerAdminStore;
  audit: AuditStore;
  usage: UsageStore;
  requests: RequestStore;
  pictures: PictureStore;
  alerts: AlertAdminStore;
  /** Runs work on a store whose changes are made together at its end, or not at all when it throws. */
  atomically<Result>(work: (store: AdminStore) => Promise<Result>): Promise<Result>;
  prompts: PromptStore;
}

export interface OrganizationRecord {
  id: string;
  name: string;
  currency: string;
  isDisabled: boolean;
  models: EnabledModels;
  settings: OrganizationSettings;
  limits: Partial<Limits>;
  /** Routing of its own by model id. */
  routes: Record<string, RouteRecord>;
  /** Unix milliseconds. */
  createdAt: number;
  /** Revision of its last change. */
  version: number;
}

/** Every model, today's and later ones; every model but some; or only some. */
export type EnabledModels = "*" | { except: string[] } | string[];

export interface RouteRecord {
  strategy: "ordered" | "weighted";
  targets: { channel: string; upstreamModel: string; weight: number }[];
}

export interface OrganizationStore {
  create(organization: Omit<OrganizationRecord, "version">, by: Actor): Promise<OrganizationRecord>;
  get(id: string): Promise<OrganizationRecord | null>;
  list(): Promise<OrganizationRecord[]>;
  /** Oldest first; `search` is a part of the id or the name. */
  page(
    page: ListPage & { search?: string; organizationIds?: readonly string[] },
  ): Promise<OrganizationRecord[]>;
  /**
   * Writes what `change` makes of the organization in its present state, so that no two changes undo each other;
   * when it throws, nothing is changed. Returns the organization afterwards, null when there is none.
   */
  update(
    id: string,
    change: (before: OrganizationRecord) => Partial<Omit<OrganizationRecord, "id" | "createdAt" | "version">>,
    by: Actor,
  ): Promise<OrganizationRecord | null>;
}

export interface KeyRecord {
  id: string;
  organizationId: string;
  name: string;
  prefix: string;
  /** Lower-case hex SHA-256 of the secret. */
  hash: string;
  scopes: (Scope | "ai:*")[];
  models: string[] | "*";
  /** CIDR notations or addresses; null is anywhere. */
  addresses: string[] | null;
  limits: Partial<Limits>;
  isDisabled: boolean;
  expiresAt: number | null;
  createdAt: number;
  /** Revision of its last change. */
  version: number;
}

/** Which keys are meant; what is absent does not matter. */
export interface KeyFilter extends OrganizationFilter {
  search?: string;
  /** As it is at a moment, Unix milliseconds. A disabled key that has expired, too, is disabled. */
  state?: { name: KeyState; now: number };
}

export const KEY_STATES = ["active", "disabled", "expired"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** Deleted keys are not found; their rows stay for the ledger's sake. */
export interface KeyStore {
  /** Null where a key of any organization has or had the secret: its callers would become another's. */
  create(key: Omit<KeyRecord, "version">, by: Actor): Promise<KeyRecord | null>;
  get(id: string): Promise<KeyRecord | null>;
  /** The key with this secret; not one that had it before a rotation. */
  findByHash(hash: string): Promise<KeyRecord | null>;
  /** Whether a rotated or deleted key once had this secret, whether or not it is still accepted. */
  isRetired(hash: string): Promise<boolean>;
  /** Oldest first, of one organization when named; at most so many where a number is given. */
  list(organizationId?: string, most?: number): Promise<KeyRecord[]>;
  /** Oldest first; `search` is a part of the id, the name or the beginning of the secret. */
  page(page: ListPage & KeyFilter): Promise<KeyRecord[]>;
  /** How many keys an organization has, counted up to `most`. */
  count(organizationId: string, most: number): Promise<number>;
  /** The names of some keys, of deleted ones, too; of some organizations when named. */
  names(ids: readonly string[], organizationIds?: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** When each of some keys was last charged for a request, where it was. Unix milliseconds. */
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Writes what `change` makes of the key in its present state, so that no two changes undo each other. Returns the
   * key afterwards, null when there is none.
   */
  update(
    id: string,
    change: (
      before: KeyRecord,
    ) => Partial<Omit<KeyRecord, "id" | "organizationId" | "hash" | "prefix" | "createdAt" | "version">>,
    by: Actor,
  ): Promise<KeyRecord | null>;
  /**
   * Gives a key another secret. Its earlier secrets are accepted until `overlapEndsAt` (Unix milliseconds), or until
   * their own end where that is sooner. False when there is no such key.
   */
  rotate(
    id: string,
    secret: Pick<KeyRecord, "hash" | "prefix">,
    overlapEndsAt: number,
    by: Actor,
  ): Promise<boolean>;
  /** Deletes a key; all its secrets are refused from now on. False when there is no such key. */
  remove(id: string, by: Actor): Promise<boolean>;
}

/** A price row. Its amounts never change: a later row takes over cell by cell, or it is ended. */
export interface PriceRecord {
  id: string;
  /** null is the default for every organization. */
  organizationId: string | null;
  model: string;
  currency: string;
  price: PriceAmounts;
  effectiveFrom: number;
  /** Unix milliseconds, exclusive; null while it has not been ended. */
  effectiveUntil: number | null;
  createdAt: number;
}

export interface PriceStore {
  add(price: PriceRecord, by: Actor): Promise<void>;
  /** Ends a row at a time. False when no such row is in force then. */
  end(id: string, until: number, by: Actor): Promise<boolean>;
  list(filter?: { organizationId?: string | null; model?: string }): Promise<PriceRecord[]>;
  /**
   * By model and then oldest first, what follows the row with the id `after`; null where there is no such row. With
   * `organizationIds` the default rows, too.
   */
  page(
    page: OrganizationFilter & { model?: string; after?: string; limit: number },
  ): Promise<PriceRecord[] | null>;
}

/** Secrets that sign links to results. */
export interface LinkSecretStore {
  /**
   * Makes a secret that signs from now on (`at`, Unix milliseconds). Removes the older ones, or keeps those that may
   * have signed links that are still valid. Returns how many were kept.
   */
  rotate(rotation: { at: number; keepsOld: boolean }, by: Actor): Promise<{ kept: number }>;
}
