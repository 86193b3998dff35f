import type { AdminStore } from "../admin-store.ts";
import { scopedIdentity } from "./identity.ts";
import { scopedMoney } from "./money.ts";
import { scopedResources } from "./resources.ts";
import { scopedUsage } from "./usage.ts";
import type { OrganizationScope } from "./scope.ts";
import type { SignedIn } from "../sign-in/signed-in.ts";

/**
 * Returns a restricted store for a member of only some organizations. Apart from a few facts, such as whether a
 * member's name is taken, rows of other organizations cannot be read or written, and shared rows cannot be changed,
 * even if an operation forgets a check. Members of all organizations get the store itself.
 */
export function scopedStore(store: AdminStore, { member, access }: SignedIn): AdminStore {
  const { organizations, role } = access;
  if (organizations === "*") return store;
  const scope: OrganizationScope = { organizations, role, memberId: member.id };
  return {
    organizations: SCOPED.organizations(store.organizations, scope, store),
    keys: SCOPED.keys(store.keys, scope, store),
    prices: SCOPED.prices(store.prices, scope, store),
    budgets: SCOPED.budgets(store.budgets, scope, store),
    members: SCOPED.members(store.members, scope, store),
    sessions: SCOPED.sessions(store.sessions, scope, store),
    adminTokens: SCOPED.adminTokens(store.adminTokens, scope, store),
    signInAttempts: SCOPED.signInAttempts(store.signInAttempts, scope, store),
    linkSecrets: SCOPED.linkSecrets(store.linkSecrets, scope, store),
    configuration: SCOPED.configuration(store.configuration, scope, store),
    webhooks: SCOPED.webhooks(store.webhooks, scope, store),
    alerts: SCOPED.alerts(store.alerts, scope, store),
    jobs: SCOPED.jobs(store.jobs, scope, store),
    usage: SCOPED.usage(store.usage, scope, store),
    requests: SCOPED.requests(store.requests, scope, store),
    pictures: SCOPED.pictures(store.pictures, scope, store),
    prompts: SCOPED.prompts(store.prompts, scope, store),
    ledger: SCOPED.ledger(store.ledger, scope, store),
    audit: SCOPED.audit(store.audit, scope, store),
    atomically: SCOPED.atomically(store.atomically, scope, store),
  };
}

/** The type makes a missing store, or a missing method of a store, a compile error. */
const SCOPED: {
  [Name in keyof AdminStore]: (
    store: AdminStore[Name],
    scope: OrganizationScope,
    all: AdminStore,
  ) => AdminStore[Name];
} = {
  ...scopedResources,
  ...scopedMoney,
  ...scopedIdentity,
  ...scopedUsage,
};
