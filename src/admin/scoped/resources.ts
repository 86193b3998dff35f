import type { AlertAdminStore } from "../alerts/store-port.ts";
import type { ConfigurationStore } from "../configuration/store-port.ts";
import type { LinkSecretStore } from "../admin-store.ts";
import type { JobAdminStore } from "../jobs/store-port.ts";
import type { WebhookStore } from "../webhooks/store-port.ts";
import {
  isWithin,
  listOwn,
  filteredOwn,
  ownOrNull,
  refused,
  requireOwn,
  type OrganizationScope,
} from "./scope.ts";
import type { AuditStore } from "../audit/store-port.ts";
import type { KeyStore } from "../keys/store-port.ts";
import type { OrganizationStore } from "../organizations/store-port.ts";

/** The stores of organizations, their keys, webhooks, alerts, jobs and audit, and of shared things. */
export const scopedResources = {
  organizations: (store: OrganizationStore, scope: OrganizationScope): OrganizationStore => ({
    create: refused,
    get: async (id) => (isWithin(scope, id) ? await store.get(id) : null),
    list: async () => (await store.list()).filter(({ id }) => isWithin(scope, id)),
    page: (page) => store.page({ ...page, organizationIds: scope.organizations }),
    update: async (id, change, by) => (isWithin(scope, id) ? await store.update(id, change, by) : null),
  }),

  keys(store: KeyStore, scope: OrganizationScope): KeyStore {
    const get: KeyStore["get"] = async (id) => ownOrNull(scope, await store.get(id));
    return {
      async create(key, by) {
        requireOwn(scope, key.organizationId);
        return await store.create(key, by);
      },
      get,
      findByHash: async (hash) => ownOrNull(scope, await store.findByHash(hash)),
      isRetired: refused,
      list: (organizationId) => listOwn(scope, organizationId, (id) => store.list(id)),
      page: filteredOwn(scope, (page) => store.page(page)),
      count: async (organizationId, most) =>
        isWithin(scope, organizationId) ? await store.count(organizationId, most) : 0,
      names: (ids) => store.names(ids, scope.organizations),
      async lastUsed(ids) {
        const keys = await Promise.all(ids.map(get));
        return await store.lastUsed(keys.flatMap((key) => key?.id ?? []));
      },
      update: async (id, change, by) => ((await get(id)) ? await store.update(id, change, by) : null),
      rotate: async (id, ...rotation) => (await get(id)) !== null && (await store.rotate(id, ...rotation)),
      remove: async (id, by) => (await get(id)) !== null && (await store.remove(id, by)),
    };
  },

  webhooks(store: WebhookStore, scope: OrganizationScope): WebhookStore {
    const isOwn = async (id: string) =>
      (await store.list()).some((each) => each.id === id && isWithin(scope, each.organizationId));
    return {
      async add(endpoint, by) {
        requireOwn(scope, endpoint.organizationId);
        await store.add(endpoint, by);
      },
      list: async (organizationId) =>
        organizationId === null ? [] : await listOwn(scope, organizationId, (id) => store.list(id)),
      remove: async (id, by) => (await isOwn(id)) && (await store.remove(id, by)),
      rotate: async (id, ...rotation) => (await isOwn(id)) && (await store.rotate(id, ...rotation)),
      deliveries: filteredOwn(scope, (filter) => store.deliveries(filter)),
      redeliver: (id, by) => store.redeliver(id, by, scope.organizations),
    };
  },

  alerts(store: AlertAdminStore, scope: OrganizationScope): AlertAdminStore {
    const get: AlertAdminStore["get"] = async (id) => ownOrNull(scope, await store.get(id));
    return {
      async create(rule, by) {
        requireOwn(scope, rule.organizationId);
        return await store.create(rule, by);
      },
      get,
      page: filteredOwn(scope, (page) => store.page(page)),
      update: async (id, ...change) => ((await get(id)) ? await store.update(id, ...change) : null),
      remove: async (id, by) => (await get(id)) !== null && (await store.remove(id, by)),
      events: filteredOwn(scope, (page) => store.events(page)),
      notices: (eventIds, ids = scope.organizations) =>
        store.notices(
          eventIds,
          ids.filter((id) => isWithin(scope, id)),
        ),
      ejections: async () =>
        (await store.ejections()).filter(
          ({ organizationId }) => organizationId === null || isWithin(scope, organizationId),
        ),
      undelivered: (ids = scope.organizations) => store.undelivered(ids.filter((id) => isWithin(scope, id))),
    };
  },

  jobs: (store: JobAdminStore, scope: OrganizationScope): JobAdminStore => ({
    get: async (id) => ownOrNull(scope, await store.get(id)),
    list: filteredOwn(scope, (page) => store.list(page)),
  }),

  /** Every member may read the entries, to list models. Changes are refused, because all entries are shared. */
  configuration: ({ list }: ConfigurationStore): ConfigurationStore => ({
    list,
    create: refused,
    update: refused,
    remove: refused,
  }),

  atomically: () => refused,

  linkSecrets: (): LinkSecretStore => ({ rotate: refused }),

  audit: (store: AuditStore, scope: OrganizationScope): AuditStore => ({
    async note(act) {
      // An export without an organization covers all organizations that the member sees.
      if (act.organizationId || act.kind !== "export") requireOwn(scope, act.organizationId ?? null);
      await store.note(act);
    },
    list: (filter) => store.list({ ...filter, organizationIds: scope.organizations }),
    verify: refused,
  }),
};
