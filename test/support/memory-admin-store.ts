import type { AdminStore } from "../../src/admin/admin-store.ts";
import { runningPeriod } from "../../src/domain/calendar.ts";
import type { ListPage } from "../../src/admin/list-page.ts";
import { memoryMemberStores } from "./memory-member-stores.ts";
import type { StoredEntry } from "../../src/admin/configuration/store-port.ts";
import { memoryLedgerStore, type MemoryLedgerStore } from "./memory-ledger-store.ts";
import type { BudgetRecord } from "../../src/admin/budgets/schema.ts";
import type { Actor } from "../../src/admin/actor.ts";
import type { KeyRecord, KeyState } from "../../src/admin/keys/schema.ts";
import type { OrganizationRecord } from "../../src/admin/organizations/schema.ts";
import type { PriceRecord } from "../../src/admin/prices/store-port.ts";

export interface MemoryAdminStore extends AdminStore {
  /** All changes in order, each with its author. */
  changes: { actor: string; change: string }[];
  ledger: MemoryLedgerStore;
}

/** Creates an `AdminStore` in memory. It keeps copies of records and refuses what a database would refuse. */
export function memoryAdminStore(): MemoryAdminStore {
  const changes: MemoryAdminStore["changes"] = [];
  const note = ({ actor }: Actor, change: string) => void changes.push({ actor, change });
  const ledger = memoryLedgerStore();
  return {
    changes,
    ledger,
    audit: ledger.audit,
    organizations: organizationStore(note),
    keys: keyStore(note),
    prices: priceStore(note),
    budgets: budgetStore(note),
    ...memoryMemberStores(note),
    webhooks: unusedWebhooks(),
    alerts: unused(),
    prompts: unused(),
    jobs: { get: async () => null, list: async () => [] },
    usage: unused(),
    requests: unused(),
    pictures: unused(),
    configuration: configurationStore(note),
    atomically: () => Promise.reject(new Error("needs a real store")),
    linkSecrets: {
      async rotate({ keepsOld }, by) {
        note(by, "rotate link secret");
        return { kept: keepsOld ? 1 : 0 };
      },
    },
  };
}

/** Webhooks are tested only with a database. */
function unusedWebhooks(): AdminStore["webhooks"] {
  const unused = () => Promise.reject(new Error("not used"));
  return { add: unused, list: unused, remove: unused, rotate: unused, deliveries: unused, redeliver: unused };
}

/** Returns a store whose methods fail. These stores are tested only with a database. */
function unused<Store extends object>(): Store {
  const refuse = () => Promise.reject(new Error("not used"));
  return new Proxy({} as Store, { get: () => refuse });
}

function configurationStore(note: Note): AdminStore["configuration"] {
  const entries = new Map<string, StoredEntry>();
  let revision = 0n;
  const nameOf = ({ kind, id }: Pick<StoredEntry, "kind" | "id">) => `${kind} ${id}`;
  return {
    list: async () => structuredClone([...entries.values()]),
    async create(entry, by) {
      const name = nameOf(entry);
      if (entries.has(name)) return false;
      entries.set(name, { ...structuredClone(entry), revision: ++revision });
      note(by, `create ${name}`);
      return true;
    },
    async update(named, change, by, action = "update") {
      const name = nameOf(named);
      const before = entries.get(name);
      if (!before) return null;
      const after = { ...before, value: structuredClone(change(before)), revision: ++revision };
      entries.set(name, after);
      note(by, `${action} ${name}`);
      return structuredClone(after);
    },
    async remove(named, by) {
      const name = nameOf(named);
      if (entries.delete(name)) note(by, `remove ${name}`);
      else return false;
      return true;
    },
  };
}

type Note = (by: Actor, change: string) => void;

function organizationStore(note: Note): AdminStore["organizations"] {
  const records = new Map<string, OrganizationRecord>();
  return {
    async create(organization, by) {
      if (records.has(organization.id)) throw new Error("UNIQUE constraint failed: organizations.id");
      const record = { ...structuredClone(organization), version: 1 };
      records.set(organization.id, record);
      note(by, `create organization ${organization.id}`);
      return structuredClone(record);
    },
    page: async ({ search = "", ...page }) =>
      pageOf(
        [...records.values()].filter(({ id, name }) => isPartOf(search, id, name)),
        page,
      ),
    get: async (id) => structuredClone(records.get(id) ?? null),
    list: async () => structuredClone([...records.values()]),
    async update(id, change, by) {
      const before = records.get(id);
      if (!before) return null;
      const { version } = before;
      applyChange(records, id, { ...change(structuredClone(before)), version: version + 1 });
      note(by, `update organization ${id}`);
      return structuredClone(records.get(id) ?? null);
    },
  };
}

function stateOf({ isDisabled, expiresAt }: KeyRecord, now: number): KeyState {
  if (isDisabled) return "disabled";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

function keyStore(note: Note): AdminStore["keys"] {
  const records = new Map<string, KeyRecord>();
  const retired = new Map<string, number>();
  return {
    async create(key, by) {
      if (retired.has(key.hash) || [...records.values()].some((other) => other.hash === key.hash))
        return null;
      const record = { ...structuredClone(key), version: 1 };
      records.set(key.id, record);
      note(by, `create key ${key.id}`);
      return structuredClone(record);
    },
    page: async ({ organizationId, search = "", state, ...page }) =>
      pageOf(
        [...records.values()]
          .filter((key) => state === undefined || stateOf(key, state.now) === state.name)
          .filter((key) => organizationId === undefined || key.organizationId === organizationId)
          .filter(({ id, name, prefix }) => isPartOf(search, id, name, prefix)),
        page,
      ),
    count: async (organizationId) =>
      [...records.values()].filter((key) => key.organizationId === organizationId).length,
    names: async (ids) => new Map(ids.map((id) => [id, records.get(id)?.name ?? ""])),
    lastUsed: async () => new Map(),
    get: async (id) => structuredClone(records.get(id) ?? null),
    findByHash: async (hash) =>
      structuredClone([...records.values()].find((key) => key.hash === hash) ?? null),
    list: async (organizationId) =>
      structuredClone(
        [...records.values()].filter(
          (key) => organizationId === undefined || key.organizationId === organizationId,
        ),
      ),
    isRetired: async (hash) => retired.has(hash),
    async update(id, change, by) {
      const before = records.get(id);
      if (!before) return null;
      const { version } = before;
      applyChange(records, id, { ...change(structuredClone(before)), version: version + 1 });
      note(by, `update key ${id}`);
      return structuredClone(records.get(id) ?? null);
    },
    async rotate(id, secret, overlapEndsAt, by) {
      const before = records.get(id);
      if (!before) return false;
      retired.set(before.hash, overlapEndsAt);
      applyChange(records, id, secret);
      note(by, `rotate key ${id}`);
      return true;
    },
    async remove(id, by) {
      const key = records.get(id);
      if (!key) return false;
      retired.set(key.hash, 0);
      records.delete(id);
      note(by, `remove key ${id}`);
      return true;
    },
  };
}

function priceStore(note: Note): AdminStore["prices"] {
  const records: PriceRecord[] = [];
  return {
    async add(price, by) {
      records.push(structuredClone(price));
      note(by, `create price ${price.id}`);
    },
    async end(id, until, by) {
      const row = records.find((each) => each.id === id && (each.effectiveUntil ?? Infinity) > until);
      if (row) row.effectiveUntil = until;
      if (row) note(by, `remove price ${id}`);
      return row !== undefined;
    },
    list: async ({ organizationId, model } = {}) =>
      structuredClone(
        records.filter(
          (price) =>
            (organizationId === undefined || price.organizationId === organizationId) &&
            (model === undefined || price.model === model),
        ),
      ),
    async page({ organizationId, model, after, limit }) {
      const rows = await this.list({ organizationId, model });
      const start = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1;
      return after !== undefined && start === 0 ? null : rows.slice(start, start + limit);
    },
  };
}

function budgetStore(note: Note): AdminStore["budgets"] {
  const records = new Map<string, BudgetRecord>();
  return {
    async create(budget, by) {
      const readAt = budget.createdAt;
      const periodStart = runningPeriod(budget.period, budget.periodStart, readAt);
      const level = { nearSince: null, spentSince: null };
      const record = { ...structuredClone(budget), ...level, periodStart, version: 1, readAt };
      records.set(budget.id, record);
      note(by, `create budget ${budget.id}`);
      return structuredClone(record);
    },
    page: async ({ organizationId, keyId, ...page }) =>
      pageOf(
        [...records.values()]
          .filter((budget) => organizationId === undefined || budget.organizationId === organizationId)
          .filter((budget) => keyId === undefined || budget.keyId === keyId),
        page,
      ),
    mostSpent: async (limit) => structuredClone([...records.values()].slice(0, limit)),
    nearlySpent: async () => [],
    ofOrganizations: async () => [],
    ofKeys: async (ids) =>
      structuredClone([...records.values()].filter(({ keyId }) => keyId !== null && ids.includes(keyId))),
    get: async (id) => structuredClone(records.get(id) ?? null),
    list: async (organizationId) =>
      structuredClone(
        [...records.values()].filter(
          (budget) => organizationId === undefined || budget.organizationId === organizationId,
        ),
      ),
    async update(id, change, by) {
      const before = records.get(id);
      if (!before) return null;
      applyChange(records, id, { ...change(structuredClone(before)), version: before.version + 1 });
      note(by, `update budget ${id}`);
      return structuredClone(records.get(id) ?? null);
    },
    async remove(id, by) {
      const isRemoved = records.delete(id);
      if (isRemoved) note(by, `remove budget ${id}`);
      return isRemoved;
    },
    leasesInDoubt: async () => [],
    writeOff: async () => [],
  };
}

function isPartOf(search: string, ...texts: string[]): boolean {
  return texts.some((text) => text.toLowerCase().includes(search.toLowerCase()));
}

/** Returns a page of records, in order of creation. */
function pageOf<Item extends { id: string; createdAt: number }>(
  items: Item[],
  { after, limit }: ListPage,
): Item[] {
  const start = after ? items.findIndex(({ id }) => id === after.id) + 1 : 0;
  return structuredClone(items.slice(start, start + limit));
}

/** Changes the fields that are defined, as the database's stores do. */
function applyChange<Value extends object>(
  records: Map<string, Value>,
  id: string,
  change: Partial<Value>,
): boolean {
  const before = records.get(id);
  if (!before) return false;
  const defined = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  records.set(id, structuredClone({ ...before, ...defined }));
  return true;
}
