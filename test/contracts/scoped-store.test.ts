import { beforeAll, expect, test } from "bun:test";
import { AdminError } from "../../src/admin/admin-error.ts";
import type { AdminStore } from "../../src/admin/admin-store.ts";
import type { Access } from "../../src/admin/roles.ts";
import { scopedStore } from "../../src/admin/scoped/store.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aMember, anAlert, aPrice, aSession, aToken, aWebhook, fill } from "../support/full-store.ts";
import { aBudget, aKey, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

/*
 * The store as a member of the organization `mine` sees it. No method may return or change records of `theirs`, and the
 * calls of `OWN` must find records of `mine`. A new method must be listed in `FOREIGN`.
 */
const PAGE = { limit: 100 };
const POSTED = { ...PAGE, after: { sequence: -1, id: "", kind: "" }, upTo: 10 ** 15 };
const DAY = { from: 0, to: 10 ** 13, span: "day" as const };
const NOTE = { by: BY, action: "update" } as const;

type Call = (store: AdminStore) => Promise<unknown>;

/** Calls that concern `theirs` or all organizations, by store and method. */
const FOREIGN: Readonly<Record<string, readonly Call[]>> = {
  "organizations.create": [(s) => s.organizations.create(anOrganization("new"), BY)],
  "organizations.get": [(s) => s.organizations.get("theirs")],
  "organizations.list": [(s) => s.organizations.list()],
  "organizations.page": [
    (s) => s.organizations.page(PAGE),
    (s) => s.organizations.page({ ...PAGE, search: "theirs" }),
    (s) => s.organizations.page({ ...PAGE, organizationIds: ["theirs"] }),
  ],
  "organizations.update": [(s) => s.organizations.update("theirs", () => ({ name: "x" }), BY)],
  "keys.create": [(s) => s.keys.create(aKey("new_key", "theirs"), BY)],
  "keys.get": [(s) => s.keys.get("key_theirs")],
  "keys.findByHash": [(s) => s.keys.findByHash(aKey("key_theirs", "theirs").hash)],
  "keys.isRetired": [(s) => s.keys.isRetired("x")],
  "keys.list": [(s) => s.keys.list(), (s) => s.keys.list("theirs")],
  "keys.page": [(s) => s.keys.page(PAGE), (s) => s.keys.page({ ...PAGE, organizationId: "theirs" })],
  "keys.count": [(s) => s.keys.count("theirs", 9)],
  "keys.names": [(s) => s.keys.names(["key_theirs"])],
  "keys.lastUsed": [(s) => s.keys.lastUsed(["key_theirs"])],
  "keys.update": [(s) => s.keys.update("key_theirs", () => ({ isDisabled: true }), BY)],
  "keys.rotate": [(s) => s.keys.rotate("key_theirs", { hash: "x", prefix: "x" }, 0, BY)],
  "keys.remove": [(s) => s.keys.remove("key_theirs", BY)],
  "prices.add": [
    (s) => s.prices.add(aPrice("new_price", "theirs"), BY),
    (s) => s.prices.add(aPrice("new_price", null), BY),
  ],
  "prices.end": [(s) => s.prices.end("price_theirs", 9, BY), (s) => s.prices.end("price_default", 9, BY)],
  "prices.page": [(s) => s.prices.page(PAGE), (s) => s.prices.page({ ...PAGE, organizationId: "theirs" })],
  "prices.list": [(s) => s.prices.list(), (s) => s.prices.list({ organizationId: "theirs" })],
  "budgets.create": [(s) => s.budgets.create(aBudget("new", 1n, { organizationId: "theirs" }), BY)],
  "budgets.get": [(s) => s.budgets.get("budget_theirs")],
  "budgets.list": [(s) => s.budgets.list(), (s) => s.budgets.list("theirs")],
  "budgets.page": [(s) => s.budgets.page(PAGE), (s) => s.budgets.page({ ...PAGE, organizationId: "theirs" })],
  "budgets.ofKeys": [(s) => s.budgets.ofKeys(["key_theirs"])],
  "budgets.ofOrganizations": [(s) => s.budgets.ofOrganizations(["theirs"])],
  "budgets.mostSpent": [(s) => s.budgets.mostSpent(10)],
  "budgets.nearlySpent": [
    (s) => s.budgets.nearlySpent({ limit: 10 }),
    (s) => s.budgets.nearlySpent({ limit: 10, organizationId: "theirs" }),
  ],
  "budgets.leasesInDoubt": [(s) => s.budgets.leasesInDoubt()],
  "budgets.update": [(s) => s.budgets.update("budget_theirs", () => ({ amount: 0n }), BY)],
  "budgets.remove": [(s) => s.budgets.remove("budget_theirs", BY)],
  "budgets.writeOff": [(s) => s.budgets.writeOff("process", BY)],
  "members.create": [
    (s) => s.members.create(aMember("new", ["theirs"]), BY),
    (s) => s.members.create(aMember("new", "*"), BY),
    (s) => s.members.create({ ...aMember("new", ["mine"]), role: "owner" }, BY),
  ],
  "members.get": [(s) => s.members.get("user_theirs"), (s) => s.members.get("user_all")],
  "members.find": [],
  "members.list": [(s) => s.members.list()],
  "members.update": [
    (s) => s.members.update("user_theirs", () => ({ isDisabled: true }), NOTE),
    (s) => s.members.update("user_mine", () => ({ organizations: "*" }), NOTE),
    (s) => s.members.update("user_mine", () => ({ role: "owner" }), NOTE),
  ],
  "members.remove": [(s) => s.members.remove("user_theirs", () => {}, BY)],
  "members.note": [],
  "sessions.create": [(s) => s.sessions.create(aSession("new", "user_theirs"))],
  "sessions.get": [(s) => s.sessions.get("hash of session_theirs")],
  "sessions.list": [(s) => s.sessions.list("user_theirs")],
  "sessions.touch": [(s) => s.sessions.touch({ id: "session_theirs", memberId: "user_theirs" }, 9)],
  "sessions.remove": [(s) => s.sessions.remove("user_theirs", "session_theirs")],
  "sessions.removeAll": [(s) => s.sessions.removeAll("user_theirs")],
  "sessions.sweep": [(s) => s.sessions.sweep({ seenBefore: 10 ** 13, createdBefore: 10 ** 13 })],
  "adminTokens.create": [
    (s) => s.adminTokens.create(aToken("new", "user_theirs", ["mine"]), BY),
    (s) => s.adminTokens.create(aToken("new", "user_mine", "*"), BY),
  ],
  "adminTokens.get": [(s) => s.adminTokens.get("token_theirs")],
  "adminTokens.find": [(s) => s.adminTokens.find("hash of token_theirs")],
  "adminTokens.list": [(s) => s.adminTokens.list(), (s) => s.adminTokens.list("user_theirs")],
  "adminTokens.touch": [(s) => s.adminTokens.touch("token_theirs", 9)],
  "adminTokens.remove": [(s) => s.adminTokens.remove("token_theirs", BY)],
  "signInAttempts.count": [],
  "signInAttempts.forgive": [],
  "signInAttempts.reset": [(s) => s.signInAttempts.reset("x")],
  "signInAttempts.sweep": [(s) => s.signInAttempts.sweep(10 ** 13)],
  "linkSecrets.rotate": [(s) => s.linkSecrets.rotate({ at: 9, keepsOld: false }, BY)],
  "webhooks.add": [(s) => s.webhooks.add({ ...aWebhook("new", "theirs"), secret: "x" }, BY)],
  "webhooks.list": [(s) => s.webhooks.list(), (s) => s.webhooks.list("theirs")],
  "webhooks.remove": [(s) => s.webhooks.remove("hook_theirs", BY)],
  "webhooks.rotate": [(s) => s.webhooks.rotate("hook_theirs", "x", 0, BY)],
  "webhooks.deliveries": [
    (s) => s.webhooks.deliveries(PAGE),
    (s) => s.webhooks.deliveries({ ...PAGE, organizationId: "theirs" }),
  ],
  "webhooks.redeliver": [(s) => s.webhooks.redeliver("delivery_theirs", BY)],
  "alerts.create": [(s) => s.alerts.create(anAlert("new", "theirs"), BY)],
  "alerts.get": [(s) => s.alerts.get("alert_theirs")],
  "alerts.page": [(s) => s.alerts.page(PAGE), (s) => s.alerts.page({ ...PAGE, organizationId: "theirs" })],
  "alerts.update": [(s) => s.alerts.update("alert_theirs", () => ({ name: "x" }), BY)],
  "alerts.remove": [(s) => s.alerts.remove("alert_theirs", BY)],
  "alerts.events": [
    (s) => s.alerts.events(PAGE),
    (s) => s.alerts.events({ ...PAGE, organizationId: "theirs" }),
  ],
  "alerts.notices": [
    async (s) => [...(await s.alerts.notices(["event_theirs"])).values()],
    async (s) => [...(await s.alerts.notices(["event_theirs"], ["theirs"])).values()],
  ],
  "alerts.ejections": [(s) => s.alerts.ejections()],
  "alerts.undelivered": [(s) => s.alerts.undelivered(), (s) => s.alerts.undelivered(["theirs"])],
  "jobs.get": [(s) => s.jobs.get("job_theirs")],
  "jobs.list": [(s) => s.jobs.list(PAGE), (s) => s.jobs.list({ ...PAGE, organizationId: "theirs" })],
  "configuration.list": [],
  "configuration.create": [(s) => s.configuration.create({} as never, BY)],
  "configuration.update": [(s) => s.configuration.update({} as never, () => ({}) as never, BY)],
  "configuration.remove": [(s) => s.configuration.remove({} as never, BY)],
  "ledger.list": [
    (s) => s.ledger.list(PAGE),
    (s) => s.ledger.list({ ...PAGE, organizationId: "theirs" }),
    (s) => s.ledger.list({ ...PAGE, keyId: "key_theirs" }),
  ],
  "ledger.listPosted": [
    (s) => s.ledger.listPosted(POSTED),
    (s) => s.ledger.listPosted({ ...POSTED, organizationId: "theirs" }),
  ],
  // The sequence number concerns the whole installation and reveals nothing about an organization.
  "ledger.readableSequence": [],
  "ledger.position": [(s) => s.ledger.position("entry_theirs")],
  "ledger.history": [(s) => s.ledger.history("entry_theirs")],
  "ledger.charges": [
    (s) =>
      s.ledger.charges({
        organizationId: "theirs",
        model: "sandbox-chat",
        from: 0,
        to: 10 ** 13,
        after: null,
      }),
  ],
  "ledger.correct": [
    (s) => s.ledger.correct(["entry_mine", "entry_theirs"], ({ charge }) => ({ ...charge, id: "x" }), null),
  ],
  "ledger.verify": [(s) => s.ledger.verify()],
  "ledger.oldestMonth": [(s) => s.ledger.oldestMonth("folder")],
  "ledger.archive": [(s) => s.ledger.archive("1970-01", "folder", BY)],
  "audit.list": [
    (s) => s.audit.list(PAGE),
    (s) => s.audit.list({ ...PAGE, subject: "key_theirs" }),
    (s) => s.audit.list({ ...PAGE, organizationIds: ["theirs"] }),
  ],
  "audit.note": [
    (s) =>
      s.audit.note({
        by: BY,
        kind: "key",
        action: "use",
        subject: "key_theirs",
        organizationId: "theirs",
        detail: {},
      }),
    (s) => s.audit.note({ by: BY, kind: "mail", action: "test", subject: "a@example.com", detail: {} }),
  ],
  "audit.verify": [(s) => s.audit.verify()],
  "usage.sums": [
    (s) => s.usage.sums(DAY, ["organizationId", "keyId"]),
    (s) => s.usage.sums({ ...DAY, organizations: ["theirs"] }, ["organizationId"]),
  ],
  "usage.spending": [
    (s) => s.usage.spending(DAY, ["organizationId", "keyId"]),
    (s) => s.usage.spending({ ...DAY, organizations: ["theirs"] }, ["organizationId"]),
  ],
  "usage.counts": [
    (s) => s.usage.counts(DAY, ["organizationId"]),
    (s) => s.usage.counts({ ...DAY, organizations: ["theirs"] }, ["organizationId"]),
  ],
  "usage.traffic": [
    (s) => s.usage.traffic(DAY, ["organizationId"]),
    (s) => s.usage.traffic({ ...DAY, organizations: ["theirs"] }, ["organizationId"]),
  ],
  "usage.addTraffic": [(s) => s.usage.addTraffic([])],
  "usage.maintain": [(s) => s.usage.maintain()],
  "usage.hasPictures": [],
  "requests.add": [(s) => s.requests.add([])],
  "requests.list": [
    (s) => s.requests.list({}, { below: null, limit: 9 }),
    (s) => s.requests.list({ organizations: ["theirs", "mine"] }, { below: null, limit: 9 }),
  ],
  "requests.find": [(s) => s.requests.find("entry_theirs"), (s) => s.requests.find("request-entry_theirs")],
  "requests.sweep": [(s) => s.requests.sweep(10 ** 13, 0)],
  "pictures.add": [(s) => s.pictures.add([])],
  "pictures.list": [
    (s) => s.pictures.list({}, { since: 0, below: null, limit: 9 }),
    (s) => s.pictures.list({ organizations: ["theirs"] }, { since: 0, below: null, limit: 9 }),
  ],
  "pictures.sweep": [(s) => s.pictures.sweep(10 ** 13)],
  "prompts.add": [(s) => s.prompts.add([])],
  "prompts.read": [(s) => s.prompts.read("entry_theirs", BY)],
  "prompts.organizationOf": [(s) => s.prompts.organizationOf("entry_theirs")],
  "prompts.remove": [
    (s) => s.prompts.remove({ organizationId: "theirs" }, BY),
    (s) => s.prompts.remove({ organizationId: "mine", id: "entry_theirs" }, BY),
  ],
  "prompts.sweep": [(s) => s.prompts.sweep(10 ** 13)],
  atomically: [(s) => s.atomically(async (all) => await all.keys.get("key_theirs"))],
};

/** Calls that find records of the member's own organization. */
const OWN: readonly Call[] = [
  (s) => s.organizations.get("mine"),
  (s) => s.organizations.page(PAGE),
  (s) => s.keys.get("key_mine"),
  (s) => s.keys.page(PAGE),
  (s) => s.keys.page({ ...PAGE, organizationId: "mine" }),
  (s) => s.keys.list(),
  (s) => s.budgets.page(PAGE),
  (s) => s.budgets.ofKeys(["key_mine"]),
  (s) => s.prices.list({ organizationId: "mine" }),
  (s) => s.prices.page({ ...PAGE, organizationId: "mine" }),
  (s) => s.webhooks.list(),
  (s) => s.alerts.page(PAGE),
  async (s) => [...(await s.alerts.notices(["event_mine"])).values()],
  (s) => s.alerts.ejections(),
  // Each organization has one undelivered message.
  async (s) => (await s.alerts.undelivered()).map(({ count }) => (count === 1 ? "mine" : "theirs, too")),
  (s) => s.members.list(),
  (s) => s.sessions.list("user_mine"),
  (s) => s.adminTokens.list(),
  (s) => s.ledger.list(PAGE),
  (s) => s.ledger.listPosted(POSTED),
  (s) => s.ledger.history("entry_mine"),
  (s) => s.ledger.position("entry_mine"),
  (s) => s.requests.find("entry_mine"),
  (s) => s.requests.list({}, { below: null, limit: 9 }),
  (s) => s.usage.sums(DAY, ["keyId"]),
  (s) => s.prompts.read("entry_mine", BY),
  (s) => s.audit.list({ ...PAGE, subject: "key_mine" }),
];

/** Adds an undelivered message and an unavailable target for one organization. */
async function addAlertTraces(database: Database, organization: string): Promise<void> {
  const now = Date.now();
  await database.begin(async (sql) => {
    await sql`INSERT INTO mails (id, organization_id, recipient, subject, body, event_id, status, attempts, next_at,
        created_at, last_result)
      VALUES (${`mail_${organization}`}, ${organization}, ${`${organization}@example.com`}, '', '',
        ${`event_${organization}`}, 'failed', 1, ${now}, ${now}, ${`refused for ${organization}`})`;
    await sql`INSERT INTO ejected_targets (process_id, target, organization_id, reason, since, seen_at)
      VALUES ('process', ${`channel/${organization}`}, ${organization}, 'account', ${now}, ${now})`;
  });
}

onEachDatabase("The store of a member of one organization", (databases) => {
  let stores: Stores;
  let scoped: AdminStore;

  beforeAll(async () => {
    const database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    for (const organization of ["mine", "theirs"]) await fill(stores, organization);
    for (const organization of ["mine", "theirs"]) await addAlertTraces(database, organization);
    await stores.admin.members.create(aMember("user_all", "*"), BY);
    await stores.admin.prices.add(aPrice("price_default", null), BY);
    const member = (await stores.admin.members.get("user_mine"))!;
    scoped = scopedStore(stores.admin, {
      member,
      access: { role: "admin", organizations: ["mine"] },
      session: null,
    });
  });

  test("every method of every store is listed", () => {
    const methods = Object.entries(stores.admin).flatMap(([name, part]) =>
      typeof part === "function" ? name : Object.keys(part).map((method) => `${name}.${method}`),
    );
    expect(methods.toSorted()).toEqual(Object.keys(FOREIGN).toSorted());
  });

  test.each(Object.entries(FOREIGN).filter(([, calls]) => calls.length > 0))(
    "%s gives and changes nothing of another organization",
    async (_, calls) => {
      const before = await everythingOf(stores.admin);
      for (const call of calls) {
        const result = await call(scoped).catch((error: unknown) => {
          if (error instanceof AdminError && [403, 404].includes(error.status)) return null;
          throw error;
        });
        expect(textOf(result)).not.toContain("theirs");
      }
      expect(await everythingOf(stores.admin)).toEqual(before);
    },
  );

  test.each(OWN.map((call) => [String(call), call] as const))(
    "%s gives the member's own",
    async (_, call) => {
      expect(textOf(await call(scoped))).toContain("mine");
    },
  );

  test("the member's own records are changed", async () => {
    expect(await scoped.keys.update("key_mine", () => ({ isDisabled: true }), BY)).toMatchObject({
      isDisabled: true,
    });
    expect(await scoped.budgets.update("budget_mine", () => ({ amount: 5n }), BY)).toMatchObject({
      amount: 5n,
    });
    expect(await scoped.organizations.update("mine", () => ({ name: "Ours" }), BY)).toMatchObject({
      name: "Ours",
    });
  });

  test("a member of all organizations has the store itself", async () => {
    const member = (await stores.admin.members.get("user_all"))!;
    const access: Access = { role: "viewer", organizations: "*" };
    expect(scopedStore(stores.admin, { member, access, session: null })).toBe(stores.admin);
  });
});

async function everythingOf(store: AdminStore): Promise<string> {
  const parts = await Promise.all([
    store.organizations.list(),
    store.keys.list(),
    (await store.budgets.list()).map((budget) => ({ ...budget, readAt: 0 })),
    store.prices.list(),
    store.webhooks.list(),
    store.alerts.page(PAGE),
    store.members.list(),
    ...["user_mine", "user_theirs"].map((id) => store.sessions.list(id)),
    store.adminTokens.list(),
    store.ledger.list(PAGE),
  ]);
  return textOf(parts);
}

function textOf(value: unknown): string {
  const plain = value instanceof Map ? [...value] : value;
  return JSON.stringify(plain, (_, part) => (typeof part === "bigint" ? String(part) : part)) ?? "";
}
