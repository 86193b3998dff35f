import type { Actor } from "./actor.ts";
import type { AlertAdminStore } from "./alerts/store-port.ts";
import type { PromptStore } from "./prompts/store-port.ts";
import type { AuditStore } from "./audit/store-port.ts";
import type { BudgetAdminStore } from "./budgets/store-port.ts";
import type { ConfigurationStore } from "./configuration/store-port.ts";
import type { JobAdminStore } from "./jobs/store-port.ts";
import type { LedgerAdminStore } from "./ledger/store-port.ts";
import type { AdminTokenStore, MemberStore, SessionStore, SignInAttemptStore } from "./members/store-port.ts";
import type { PictureStore, RequestStore, UsageStore } from "./usage/store-port.ts";
import type { WebhookStore } from "./webhooks/store-port.ts";
import type { KeyStore } from "./keys/store-port.ts";
import type { OrganizationStore } from "./organizations/store-port.ts";
import type { PriceStore } from "./prices/store-port.ts";

/**
 * The store with the methods that administration needs. A change by administration increases the store's revision, so
 * that running gateways notice the change, and writes an audit row in the same transaction. Storing sessions, counts or
 * records of requests does neither.
 */
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
  /** Runs `work` in one transaction. When `work` throws, none of its changes are made. */
  atomically<Result>(work: (store: AdminStore) => Promise<Result>): Promise<Result>;
  prompts: PromptStore;
}

/** Secrets that sign links to results. */
export interface LinkSecretStore {
  /**
   * Creates a secret that signs from `at` on (Unix milliseconds). Removes all older secrets; with `keepsOld`, keeps the
   * secrets whose links may still be valid. Returns the number of kept secrets.
   */
  rotate(rotation: { at: number; keepsOld: boolean }, by: Actor): Promise<{ kept: number }>;
}
