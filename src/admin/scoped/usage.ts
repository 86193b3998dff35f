import type { PromptStore } from "../prompts/store-port.ts";
import type { PictureStore, RequestStore, UsageStore } from "../usage/store-port.ts";
import { isWithin, refused, type OrganizationScope } from "./scope.ts";

/**
 * The stores of usage, requests, pictures and prompts. Rows without an organization (requests without a key) are
 * hidden.
 */
export const scopedUsage = {
  usage: (store: UsageStore, scope: OrganizationScope): UsageStore => ({
    sums: narrowed(scope, (range, by) => store.sums(range, by)),
    spending: narrowed(scope, (range, by) => store.spending(range, by)),
    counts: narrowed(scope, (range, by) => store.counts(range, by)),
    traffic: narrowed(scope, (range, by) => store.traffic(range, by)),
    addTraffic: refused,
    maintain: refused,
    hasPictures: () => store.hasPictures(),
  }),

  requests: (store: RequestStore, scope: OrganizationScope): RequestStore => ({
    add: refused,
    list: narrowed(scope, (filter, page) => store.list(filter, page)),
    find: (id) => store.find(id, scope.organizations),
    sweep: refused,
  }),

  pictures: (store: PictureStore, scope: OrganizationScope): PictureStore => ({
    add: refused,
    list: narrowed(scope, (filter, page) => store.list(filter, page)),
    sweep: refused,
  }),

  prompts: (store: PromptStore, scope: OrganizationScope): PromptStore => ({
    add: refused,
    read: async (id, by) =>
      isWithin(scope, await store.organizationOf(id)) ? await store.read(id, by) : null,
    async organizationOf(id) {
      const organization = await store.organizationOf(id);
      return isWithin(scope, organization) ? organization : null;
    },
    remove: async (selected, by) =>
      isWithin(scope, selected.organizationId) ? await store.remove(selected, by) : 0,
    sweep: refused,
  }),
};

/**
 * Returns a read function that shows only the member's organizations. Its result is empty when the filter selects none
 * of the member's organizations.
 */
function narrowed<Filter extends { organizations?: readonly string[] }, Second, Item>(
  scope: OrganizationScope,
  read: (filter: Filter, second: Second) => Promise<Item[]>,
): (filter: Filter, second: Second) => Promise<Item[]> {
  return async (filter, second) => {
    const organizations = (filter.organizations ?? scope.organizations).filter((id) => isWithin(scope, id));
    return organizations.length === 0 ? [] : await read({ ...filter, organizations }, second);
  };
}
