import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { bootstrap, ORGANIZATION_ID } from "../admin/bootstrap.ts";
import { budgetCreationSchema } from "../admin/budgets/schema.ts";
import { createBudget } from "../admin/budgets/budgets.ts";
import type { OperationContext } from "../admin/context.ts";
import { readInput } from "../admin/input.ts";
import { createKey } from "../admin/keys/keys.ts";
import { keyCreationSchema } from "../admin/keys/schema.ts";
import { createOrganization } from "../admin/organizations/organizations.ts";
import { organizationCreationSchema } from "../admin/organizations/schema.ts";
import { priceIndex, type PriceIndex } from "../admin/prices/price-index.ts";
import type { DemoFilled } from "../cli/context.ts";
import type { Settings } from "../config/index.ts";
import { charge } from "../domain/price.ts";
import { openStores, SQLITE_SUFFIXES } from "../storage/index.ts";
import { TrafficCounters } from "../telemetry/traffic-counters.ts";
import { type DemoCaller, type PriceOf, trafficOf } from "./demo-traffic.ts";
import { databaseOf, makeDataFolder } from "./stores.ts";
import { entriesOf } from "../lib/json.ts";
import type { Progress } from "../lib/progress.ts";
import { nextTurn } from "../lib/waiting.ts";

const BATCH = 500;

/** The callers of the demo. Each caller has a share of all requests, and weights for its models. */
const CALLERS = [
  {
    organization: "storefront",
    key: "Shop assistant",
    share: 30,
    models: { "sandbox-chat": 9, "sandbox-embedding": 3 },
  },
  {
    organization: "storefront",
    key: "Product pictures",
    share: 12,
    models: { "sandbox-a": 4, "sandbox-b-quality": 2 },
  },
  { organization: "storefront", key: "Site search", share: 16, models: { "sandbox-embedding": 1 } },
  {
    organization: "research",
    key: "Notebooks",
    share: 10,
    models: { "sandbox-messages": 5, "sandbox-chat": 1 },
  },
  { organization: "research", key: "Nightly evaluation", share: 9, models: { "sandbox-messages": 1 } },
  {
    organization: "marketing",
    key: "Campaign studio",
    share: 8,
    models: { "sandbox-a-flare": 3, "sandbox-c": 2, "sandbox-d-quality": 1 },
  },
  {
    organization: "marketing",
    key: "Copy desk",
    share: 15,
    models: { "sandbox-chat": 3, "sandbox-messages": 2 },
  },
] as const;

const ORGANIZATIONS = { storefront: "Storefront", research: "Research", marketing: "Marketing" };
const BUDGETS = { storefront: "120", research: "40", marketing: "80" };

/**
 * Fills an empty installation with two weeks of traffic to the sandbox. Writes to the same stores as real traffic. The
 * same start time gives the same traffic. Throws when the installation is in use.
 */
export async function fillDemo(
  settings: Settings,
  admin: Omit<OperationContext, "store">,
  onProgress: Progress,
): Promise<DemoFilled> {
  await makeDataFolder(settings);
  const { database: location, ...options } = databaseOf(settings);
  const isNew = settings.databaseUrl === null && !existsSync(location);
  const stores = await openStores(location, options);
  let isFilled = false;
  try {
    const context = { ...admin, store: stores.admin };
    if (await isInUse(stores.admin))
      throw new Error("the demo needs an empty data folder: set GATEWAY_DATA_DIR to one");
    const { administrator } = await bootstrap(context, { key: null, administratorPassword: null });
    const callers = await makeCallers(context);
    const resolve = priceIndex(await stores.admin.prices.list(), settings.prices);
    const events = trafficOf(callers, settings, pricer(resolve), context.clock.now());
    const counters = new TrafficCounters();
    for (let from = 0; from < events.length; from += BATCH) {
      onProgress("Writing requests.", from, events.length);
      // SQLite does each step within one turn of the event loop. Without this wait, no signal would be noticed.
      await nextTurn();
      const batch = events.slice(from, from + BATCH);
      await stores.ledger.post(
        "demo",
        batch.flatMap(({ charge: entry }) => entry ?? []),
      );
      await stores.admin.requests.add(batch.flatMap(({ record }) => record ?? []));
      for (const { event } of batch) counters.listener(event);
      await stores.admin.usage.addTraffic(counters.take());
    }
    isFilled = true;
    return { requests: events.length, password: administrator.password };
  } finally {
    await stores.database.close();
    if (isNew && !isFilled) await removeSqlite(location);
  }
}

async function removeSqlite(location: string): Promise<void> {
  for (const suffix of SQLITE_SUFFIXES) await rm(location + suffix, { force: true });
}

/**
 * True when there is a charge, a second organization or a second key. The first start creates one organization and one
 * key.
 */
async function isInUse({ ledger, organizations, keys }: OperationContext["store"]): Promise<boolean> {
  const [charges, all, firstKeys] = await Promise.all([
    ledger.list({ limit: 1 }),
    organizations.list(),
    keys.page({ limit: 2 }),
  ]);
  return charges.length > 0 || all.some(({ id }) => id !== ORGANIZATION_ID) || firstKeys.length > 1;
}

async function makeCallers(context: OperationContext): Promise<DemoCaller[]> {
  const budgets = new Map<string, string>();
  for (const [id, name] of entriesOf(ORGANIZATIONS)) {
    await createOrganization(context, readInput(organizationCreationSchema, { id, name }));
    const amount = BUDGETS[id];
    const fields = readInput(budgetCreationSchema, { organizationId: id, amount, period: "month" });
    budgets.set(id, (await createBudget(context, fields)).id);
  }
  const callers: DemoCaller[] = [];
  for (const { organization, key: name, share, models } of CALLERS) {
    const { key } = await createKey(
      context,
      readInput(keyCreationSchema, { organizationId: organization, name }),
    );
    callers.push({
      organizationId: organization,
      keyId: key.id,
      share,
      models: Object.entries(models),
      budgets: [budgets.get(organization) ?? ""],
    });
  }
  return callers;
}

function pricer(resolve: PriceIndex): PriceOf {
  return ({ organizationId }, model, usage, at) => {
    const price = resolve({ id: organizationId, currency: "USD" }, model, usage.unit, at);
    return (price && charge(price, usage)) ?? { amount: 0n, source: "default" };
  };
}
