import type { LedgerAdminStore } from "../ledger/store-port.ts";
import type { BudgetAdminStore } from "../budgets/store-port.ts";
import {
  isWithin,
  listOwn,
  filteredOwn,
  ownOrNull,
  refused,
  requireOwn,
  type OrganizationScope,
} from "./scope.ts";
import type { PriceStore } from "../prices/store-port.ts";

/**
 * Prices, budgets and the ledger. Everybody may read default prices. Only members of all organizations set prices and
 * correct charges: an organization's own members would otherwise decide about their own debts.
 */
export const scopedMoney = {
  prices: (store: PriceStore, scope: OrganizationScope): PriceStore => ({
    add: refused,
    end: refused,
    async list(filter) {
      const rows = await store.list(filter);
      return rows.filter(({ organizationId }) => organizationId === null || isWithin(scope, organizationId));
    },
    async page(page) {
      if (page.organizationId !== undefined && !isWithin(scope, page.organizationId)) return [];
      return await store.page({ ...page, organizationIds: scope.organizations });
    },
  }),

  budgets(store: BudgetAdminStore, scope: OrganizationScope): BudgetAdminStore {
    const get: BudgetAdminStore["get"] = async (id) => ownOrNull(scope, await store.get(id));
    return {
      async create(budget, by) {
        requireOwn(scope, budget.organizationId);
        return await store.create(budget, by);
      },
      get,
      list: (organizationId) => listOwn(scope, organizationId, (id) => store.list(id)),
      page: filteredOwn(scope, (page) => store.page(page)),
      ofKeys: async (ids) =>
        (await store.ofKeys(ids)).filter(({ organizationId }) => isWithin(scope, organizationId)),
      ofOrganizations: (ids) => store.ofOrganizations(ids.filter((id) => isWithin(scope, id))),
      mostSpent: refused,
      nearlySpent: filteredOwn(scope, (filter) => store.nearlySpent(filter)),
      update: async (id, ...change) => ((await get(id)) ? await store.update(id, ...change) : null),
      remove: async (id, by) => (await get(id)) !== null && (await store.remove(id, by)),
      leasesInDoubt: refused,
      writeOff: refused,
    };
  },

  ledger(store: LedgerAdminStore, scope: OrganizationScope): LedgerAdminStore {
    const history: LedgerAdminStore["history"] = async (charge) => {
      const found = await store.history(charge);
      return found && isWithin(scope, found.charge.organizationId) ? found : null;
    };
    return {
      list: filteredOwn(scope, (page) => store.list(page)),
      listPosted: filteredOwn(scope, (page) => store.listPosted(page)),
      readableSequence: () => store.readableSequence(),
      position: (id) => store.position(id, scope.organizations),
      history,
      charges: async (page) =>
        isWithin(scope, page.organizationId) ? await store.charges(page) : { histories: [], next: null },
      correct: refused,
      verify: refused,
      oldestMonth: refused,
      archive: refused,
    };
  },
};
