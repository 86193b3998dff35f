import type { AdminStore } from "../../admin/admin-store.ts";

/**
 * The thread that runs a method of the store. `caller`: the calling thread, for writes and short reads. `reports`: for
 * lists and sums, which may read many rows. `verification`: for reads of a whole ledger or audit.
 */
export type Reader = "caller" | "reports" | "verification";

export type ReadStore = Exclude<keyof AdminStore, "atomically">;

const CALLER = "caller";
const REPORTS = "reports";
const VERIFICATION = "verification";

/** The thread for every method of the store. A missing method is a type error. */
export const READERS: { readonly [Store in ReadStore]: Readonly<Record<keyof AdminStore[Store], Reader>> } = {
  organizations: { create: CALLER, get: CALLER, list: REPORTS, page: REPORTS, update: CALLER },
  keys: {
    create: CALLER,
    get: CALLER,
    findByHash: CALLER,
    isRetired: CALLER,
    list: REPORTS,
    page: REPORTS,
    count: REPORTS,
    names: CALLER,
    lastUsed: REPORTS,
    update: CALLER,
    rotate: CALLER,
    remove: CALLER,
  },
  prices: { add: CALLER, end: CALLER, list: REPORTS, page: REPORTS },
  budgets: {
    create: CALLER,
    get: CALLER,
    list: REPORTS,
    page: REPORTS,
    mostSpent: REPORTS,
    nearlySpent: REPORTS,
    ofKeys: REPORTS,
    ofOrganizations: REPORTS,
    update: CALLER,
    remove: CALLER,
    leasesInDoubt: REPORTS,
    writeOff: CALLER,
  },
  members: {
    create: CALLER,
    get: CALLER,
    find: CALLER,
    list: REPORTS,
    update: CALLER,
    remove: CALLER,
    note: CALLER,
  },
  sessions: {
    create: CALLER,
    get: CALLER,
    list: REPORTS,
    touch: CALLER,
    remove: CALLER,
    removeAll: CALLER,
    sweep: CALLER,
  },
  adminTokens: {
    create: CALLER,
    get: CALLER,
    find: CALLER,
    list: REPORTS,
    touch: CALLER,
    remove: CALLER,
  },
  signInAttempts: { count: CALLER, forgive: CALLER, reset: CALLER, sweep: CALLER },
  linkSecrets: { rotate: CALLER },
  webhooks: {
    add: CALLER,
    list: REPORTS,
    remove: CALLER,
    rotate: CALLER,
    deliveries: REPORTS,
    redeliver: CALLER,
  },
  jobs: { get: CALLER, list: REPORTS },
  configuration: { list: CALLER, create: CALLER, update: CALLER, remove: CALLER },
  ledger: {
    list: REPORTS,
    listPosted: REPORTS,
    readableSequence: CALLER,
    position: REPORTS,
    history: REPORTS,
    charges: REPORTS,
    correct: CALLER,
    verify: VERIFICATION,
    oldestMonth: CALLER,
    archive: CALLER,
  },
  audit: { list: REPORTS, verify: VERIFICATION, note: CALLER },
  usage: {
    sums: REPORTS,
    spending: REPORTS,
    traffic: REPORTS,
    counts: REPORTS,
    hasPictures: REPORTS,
    addTraffic: CALLER,
    maintain: CALLER,
  },
  requests: { add: CALLER, list: REPORTS, find: REPORTS, sweep: CALLER },
  pictures: { add: CALLER, list: REPORTS, sweep: CALLER },
  prompts: { add: CALLER, read: CALLER, organizationOf: CALLER, remove: CALLER, sweep: CALLER },
  alerts: {
    create: CALLER,
    get: CALLER,
    page: REPORTS,
    update: CALLER,
    remove: CALLER,
    events: REPORTS,
    notices: REPORTS,
    ejections: REPORTS,
    undelivered: REPORTS,
  },
};
