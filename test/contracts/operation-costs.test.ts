import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { z } from "zod";
import { AdminError } from "../../src/admin/admin-error.ts";
import type { OperationContext, RunningGateway } from "../../src/admin/context.ts";
import { createChannel } from "../../src/admin/channels/channels.ts";
import { operatorMessage } from "../../src/domain/operator-message.ts";
import { newMasterKey } from "../../src/lib/seal.ts";
import { runOperation, type Operation } from "../../src/admin/operation.ts";
import { operations } from "../../src/admin/operations.ts";
import type { AdminStore } from "../../src/admin/admin-store.ts";
import type { PictureRecord, RequestRecord } from "../../src/admin/usage/store-port.ts";
import { openStores, type Stores } from "../../src/storage/index.ts";
import { openAdministration, type ConfiguredAdministration } from "../support/configuration.ts";
import { copyRows } from "../support/copied-rows.ts";
import { aPrice, fill } from "../support/full-store.ts";
import { anOrganization, BY } from "./storage-harness.ts";

/*
 * Counts the rows that the store returns to each operation. An operation that declares to read one page must read
 * equally many rows from a small and from a large store.
 */
const ORGANIZATION = "many";
const ENTRY = "entry_many";
const DAY_MS = 24 * 60 * 60_000;
const RANGE = {
  from: new Date(Date.now() - DAY_MS).toISOString(),
  to: new Date(Date.now() + DAY_MS).toISOString(),
};
const TARGETS = [{ channel: "sandbox", upstreamModel: "sandbox-chat", weight: 1 }];
const PRICE = { model: "sandbox-chat", perMillion: { input: "1", output: "1" } };
const CORRECTION = { ...PRICE, ...RANGE, reason: "tried", organizationId: ORGANIZATION };
/** Values of the input field `id`, by the first part of the operation's name. */
const IDS: Readonly<Record<string, string>> = {
  organizations: ORGANIZATION,
  keys: "key_many",
  budgets: "budget_many",
  prices: "price_many",
  ledger: ENTRY,
  requests: ENTRY,
  prompts: ENTRY,
  jobs: "job_none",
  webhooks: "hook_many",
  deliveries: "delivery_none",
  alerts: "alert_many",
  members: "user_many",
  tokens: "token_many",
  sessions: "session_many",
  channels: "own",
  models: "sandbox-chat",
};
/** Inputs of operations that need more than an id. */
const INPUTS: Readonly<Record<string, object>> = {
  "overview.get": { organizationId: ORGANIZATION },
  "usage.list": { ...RANGE, groupBy: "key" },
  "routes.list": { organizationId: ORGANIZATION },
  "prices.effective": { model: "sandbox-chat" },
  "keys.create": { organizationId: ORGANIZATION, name: "new" },
  "budgets.create": { organizationId: ORGANIZATION, amount: "1", period: "total" },
  "alerts.create": { organizationId: "few", name: "new", settings: { kind: "ejection" }, usesWebhooks: true },
  "webhooks.create": { organizationId: "few", url: null },
  "prices.preview": PRICE,
  "prices.create": PRICE,
  "prices.end": { id: "price_many" },
  "priceCorrections.preview": CORRECTION,
  "routes.explain": { organizationId: ORGANIZATION, model: "sandbox-chat" },
  "organizations.create": { id: "new", name: "New" },
  "organizations.enableModels": { models: ["sandbox-chat"] },
  "organizations.disableModels": { models: ["sandbox-chat"] },
  "keys.rotate": { overlapMs: 0 },
  "leases.writeOff": { processId: "process" },
  "priceCorrections.apply": CORRECTION,
  "routes.set": { organizationId: ORGANIZATION, model: "sandbox-chat", targets: TARGETS },
  "routes.remove": { organizationId: ORGANIZATION, model: "sandbox-chat" },
  "ledger.refund": { reason: "tried" },
  "mail.test": { recipient: "ada@example.com" },
  "password.change": { current: "wrong", next: "twelve or more characters" },
  "totp.confirm": { code: "000000" },
  "totp.remove": { code: "000000" },
  "members.create": { name: "new", role: "viewer", organizations: "*" },
  "tokens.create": { name: "new", role: "viewer", organizations: "*", expiresAt: RANGE.to },
  "channels.create": { id: "new", provider: "sandbox" },
  "channels.test": { provider: "sandbox" },
  "models.create": {
    id: "new",
    route: { targets: TARGETS },
    definition: { type: "chat", max_output_tokens: 100 },
  },
  "prompts.remove": { organizationId: ORGANIZATION, keyId: "key_many" },
  "configuration.import": { yaml: "organizations: {}", isDryRun: true },
};
const ROWS = 600;
const OF_ENTRY = { at: Date.now(), organizationId: ORGANIZATION, keyId: "key_many", model: "sandbox-chat" };
const PICTURE: PictureRecord = {
  ...OF_ENTRY,
  name: "picture",
  requestId: "request",
  ledgerId: ENTRY,
  width: 1,
  height: 1,
  format: "png",
  bytes: 1,
};
const REQUEST: RequestRecord = {
  ...OF_ENTRY,
  id: "request_many",
  source: null,
  requestId: "request",
  askedModel: null,
  client: null,
  traceId: null,
  route: "chat.completions",
  method: "POST",
  path: "/v1/chat/completions",
  address: null,
  channel: "sandbox",
  status: 500,
  code: "internal_error",
  message: null,
  cause: null,
  durationMs: 1,
  firstByteMs: null,
  isStream: false,
  isFailed: true,
  isCharged: false,
  attempts: [],
};
const RUNNING: RunningGateway = {
  ejections: () => [],
  cancelJob: async () => null,
  testMail: async () => ({ isSent: true, ...operatorMessage("mail.sent", {}) }),
  writeCounts: async () => {},
  waitingCalls: () => [],
  degradations: () => [],
  linkTo: (name) => name,
  picturesKeptMs: () => DAY_MS,
};

let administration: ConfiguredAdministration;
let stores: Stores;
const rows: Record<string, number>[] = [];

beforeAll(async () => {
  administration = await openAdministration();
  const location = join(administration.directory, "gateway.sqlite");
  stores = await openStores(location);
  await fill(stores, ORGANIZATION);
  await stores.admin.organizations.create(anOrganization("few"), BY);
  await stores.admin.prices.add(aPrice("price_default", null), BY);
  await stores.admin.pictures.add([PICTURE]);
  await stores.admin.requests.add([REQUEST]);
  using database = new Database(location);
  const context = await administration.as({ env: { SANDBOX: "on", GATEWAY_MASTER_KEY: newMasterKey() } });
  await createChannel(context, { id: "own", provider: "openai", credential: "sk-own" });
  for (const times of [ROWS, 1]) {
    // The second pass also copies the copies of the first pass.
    copyRows(database, times);
    rows.push(await rowsOfEach(context));
  }
}, 60_000);
afterAll(async () => {
  await stores?.database.close();
  await administration[Symbol.asyncDispose]();
});

const ALL = Object.entries(operations as Record<string, Operation>);

function inputOf(name: string, { input }: Operation): object {
  const id = IDS[name.split(".")[0] ?? ""];
  const needsId = id !== undefined && "id" in (input as z.ZodObject).shape && !CREATING.test(name);
  return { ...(needsId && { id }), ...INPUTS[name] };
}

const CREATING = /\.(create|test)$/;
/** Statuses of refusals that an operation sends only after all its reads. */
const REFUSALS = [403, 404, 409];

async function rowsOfEach(context: OperationContext): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const member = (await stores.admin.members.get("user_many"))!;
  const session = { id: "session_many", origin: { address: "", agent: "" }, setToken: () => {} };
  const access = { role: "owner", organizations: "*" } as const;
  for (const [name, operation] of ALL) {
    let count = 0;
    const run = async (admin: AdminStore) => {
      const store = counting(admin, (given) => (count += given));
      const own = { ...context, store, by: BY, signedIn: { member, access, session }, running: RUNNING };
      await runOperation(operation, own, inputOf(name, operation)).catch((error: unknown) => {
        if (!(error instanceof AdminError && REFUSALS.includes(error.status)))
          throw new Error(`${name} failed`, { cause: error });
      });
    };
    if (operation.method === "GET") await run(stores.admin);
    else await undone(run);
    found[name] = count;
  }
  return found;
}

/** Runs work and then rolls its changes back. */
async function undone(work: (store: AdminStore) => Promise<void>): Promise<void> {
  const over = new Error("over");
  const run = async (store: AdminStore): Promise<never> => {
    await work(store);
    throw over;
  };
  await stores.admin.atomically(run).catch((error: unknown) => {
    if (error !== over) throw error;
  });
}

/** Returns a store that reports the number of rows that each method returns. */
function counting(admin: AdminStore, onRows: (count: number) => void): AdminStore {
  const stores = Object.entries(admin).map(([name, part]) => {
    if (typeof part === "function") return [name, part];
    const methods = Object.entries(part as Record<string, (...args: unknown[]) => Promise<unknown>>).map(
      ([method, run]) => [
        method,
        async (...args: unknown[]) => {
          const result = await run(...args);
          onRows(rowsIn(result));
          return result;
        },
      ],
    );
    return [name, Object.fromEntries(methods)];
  });
  return Object.fromEntries(stores);
}

function rowsIn(result: unknown): number {
  if (Array.isArray(result)) return result.length;
  if (result instanceof Map) return result.size;
  return result === null || result === undefined ? 0 : 1;
}

test.each(ALL.map(([name, { cost }]) => [name, cost] as const))("%s reads as much as a %s", (name, cost) => {
  const [some, more] = rows.map((each) => each[name]);
  if (cost === "page") expect(more).toBe(some!);
});
