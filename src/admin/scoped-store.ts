import type { AdminStore } from "./ports.ts";
import { scopedIdentity } from "./scoped/identity.ts";
import { scopedMoney } from "./scoped/money.ts";
import { scopedResources } from "./scoped/resources.ts";
import { scopedUsage } from "./scoped/usage.ts";
import type { Scope } from "./scoped/scope.ts";
import type { SignedIn } from "./signed-in.ts";

/**
 * A store as a member of some organizations may see it, whatever an operation forgets: other organizations' rows are not
 * found, they are not written, and what all organizations share is not changed. Whoever belongs to all gets the store.
 */
export function scopedStore(store: AdminStore, { member, access }: SignedIn): AdminStore {
  const { organizations, role } = access;
  if (organizations === "*") return store;
  const scope: Scope = { organizations, role, memberId: member.id };
  return {
    organizations: SCOPED.organizations(store.organizations, scope),
    keys: SCOPED.keys(store.keys, scope),
    prices: SCOPED.prices(store.prices, scope),
    budgets: SCOPED.budgets(store.budgets, scope),
    members: SCOPED.members(store.members, scope),
    sessions: SCOPED.sessions(store.sessions, scope),
    adminTokens: SCOPED.adminTokens(store.adminTokens, scope),
    signInAttempts: SCOPED.signInAttempts(store.signInAttempts, scope),
    linkSecrets: SCOPED.linkSecrets(store.linkSecrets, scope),
    configuration: SCOPED.configuration(store.configuration, scope),
    webhooks: SCOPED.webhooks(store.webhooks, scope),
    alerts: SCOPED.alerts(store.alerts, scope),
    jobs: SCOPED.jobs(store.jobs, scope),
    usage: SCOPED.usage(store.usage, scope),
    requests: SCOPED.requests(store.requests, scope),
    pictures: SCOPED.pictures(store.pictures, scope),
    ledger: SCOPED.ledger(store.ledger, scope),
    audit: SCOPED.audit(store.audit, scope),
    atomically: SCOPED.atomically(store.atomically, scope),
  };
}

/** A store that is missing here, and a method that a part leaves out, is an error of types. */
const SCOPED: { [Name in keyof AdminStore]: (store: AdminStore[Name], scope: Scope) => AdminStore[Name] } = {
  ...scopedResources,
  ...scopedMoney,
  ...scopedIdentity,
  ...scopedUsage,
};
