import type { LedgerPosition } from "../ledger-ports.ts";
import type { PromptStore } from "../prompt-ports.ts";
import type { ListedRequest, PictureStore, RequestStore, UsageStore } from "../usage-ports.ts";
import { isWithin, refused, type Scope } from "./scope.ts";

/** Sums, requests and pictures. What belongs to no organization, such as a request without a key, is not shown. */
export const scopedUsage = {
  usage: (store: UsageStore, scope: Scope): UsageStore => ({
    async sums(range, by) {
      const own = narrowed(scope, range);
      return own ? await store.sums(own, by) : [];
    },
    async spending(range, by) {
      const own = narrowed(scope, range);
      return own ? await store.spending(own, by) : [];
    },
    async errors(range, by) {
      const own = narrowed(scope, range);
      return own ? await store.errors(own, by) : [];
    },
    async traffic(range, by) {
      const own = narrowed(scope, range);
      return own ? await store.traffic(own, by) : [];
    },
    addTraffic: refused,
    backfilledUntil: () => store.backfilledUntil(),
    backfill: refused,
    sweepTraffic: refused,
    hasPictures: () => store.hasPictures(),
  }),

  requests: (store: RequestStore, scope: Scope): RequestStore => ({
    add: refused,
    async list(filter, page) {
      const own = narrowed(scope, filter);
      return own ? await store.list(own, page) : [];
    },
    find: async (id) => (await store.find(id)).filter((request) => isOwn(scope, request)),
    sweep: refused,
  }),

  pictures: (store: PictureStore, scope: Scope): PictureStore => ({
    add: refused,
    async list(filter, page: { since: number; below: LedgerPosition | null; limit: number }) {
      const own = narrowed(scope, filter);
      return own ? await store.list(own, page) : [];
    },
    sweep: refused,
  }),

  prompts: (store: PromptStore, scope: Scope): PromptStore => ({
    add: refused,
    read: async (id, by) =>
      isWithin(scope, await store.organizationOf(id)) ? await store.read(id, by) : null,
    async organizationOf(id) {
      const organization = await store.organizationOf(id);
      return isWithin(scope, organization) ? organization : null;
    },
    sweep: refused,
  }),
};

/** A filter by organizations, narrowed to those of the member; null where it names none of them. */
function narrowed<Filter extends { organizations?: readonly string[] }>(
  scope: Scope,
  filter: Filter,
): Filter | null {
  const organizations = (filter.organizations ?? scope.organizations).filter((id) => isWithin(scope, id));
  return organizations.length === 0 ? null : { ...filter, organizations };
}

function isOwn(scope: Scope, { record, charge }: ListedRequest): boolean {
  return [record, charge].every((part) => part === null || isWithin(scope, part.organizationId));
}
