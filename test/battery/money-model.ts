/**
 * Runs random operations on billing, leases, stores and a ledger. Compares the results with a model that adds amounts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Principal } from "../../src/domain/api-key.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { GatewayError } from "../../src/domain/gateway-error.ts";
import { BudgetLeases, type Hold } from "../../src/gateway/metering/budget-leases.ts";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import type { BudgetStore } from "../../src/gateway/metering/stores.ts";
import { Billing } from "../../src/gateway/metering/billing.ts";
import { openStores, type Stores } from "../../src/storage/tables/stores.ts";
import { reportExact } from "../support/figure.ts";

const BY = { actor: "test" };
const PROCESSES = 3;
const OPERATIONS_PER_RUN = 250;
/** Time between two operations, so long that cached exhaustions expire and processes wait for each other again. */
const STEP_MS = 10_000;
/** Time for which a process may use a lease without the store: 15 minutes. */
const EXPIRY_MS = 15 * 60_000;

/** One operation. `pick` and `amount` can be any numbers, which are reduced to the valid range. */
interface Operation {
  kind: (typeof KINDS)[number];
  process: number;
  pick: number;
  amount: number;
}

const KINDS = [
  ...Array.from({ length: 8 }, () => "hold" as const),
  ...Array.from({ length: 5 }, () => "settle" as const),
  ...Array.from({ length: 2 }, () => "release" as const),
  ...Array.from({ length: 3 }, () => "ship" as const),
  "replay",
  "refund",
  "yield",
  "give-back",
  "renew",
  "crash",
  "expire",
  "lose",
] as const;

/** One request of this many costs more than its hold. */
const OVER_EVERY = 25;
const OVER_NANOS = 5n;

/** Runs operations in random sequences. Throws at the first difference from the model. */
export async function compareWithModel(operations: number, seed = Date.now() % 1_000_000): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-model-"));
  const stores = await openStores(join(folder, "gateway.sqlite"));
  const tally = { operations: 0, held: 0, blocked: 0 };
  try {
    const operation = fc.record<Operation>({
      kind: fc.constantFrom(...KINDS),
      process: fc.nat(PROCESSES - 1),
      pick: fc.nat(1_000),
      amount: fc.integer({ min: 1, max: 60 }),
    });
    const sequence = fc.array(operation, {
      minLength: OPERATIONS_PER_RUN,
      maxLength: OPERATIONS_PER_RUN,
      size: "max",
    });
    const limits = fc.record({
      wide: fc.integer({ min: 50, max: 3_000 }),
      narrow: fc.integer({ min: 20, max: 800 }),
    });
    await fc.assert(
      fc.asyncProperty(sequence, limits, async (run, { wide, narrow }) => {
        const world = await openWorld(stores, BigInt(wide), BigInt(narrow), tally);
        for (const next of run) await world.perform(next);
        await world.finish();
      }),
      { numRuns: Math.ceil(operations / OPERATIONS_PER_RUN), seed, endOnFailure: true },
    );
  } finally {
    await stores.database.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const name = `budgets that differ (${tally.operations} operations, ${tally.held} holds, ${tally.blocked} refused, seed ${seed})`;
  return reportExact("P6", name, 0, "budgets", 0);
}

interface Process {
  lease: string;
  leaseStore: BudgetLeases;
  billing: Billing;
  /** Entries in the journal that are not posted yet. */
  journal: LedgerEntry[];
  open: { hold: Hold; budgets: readonly string[]; amount: bigint }[];
  /** True while the store executes this process's calls but the results are lost. */
  isCutOff: boolean;
}

/** The expected state of a budget. */
interface Account {
  limit: bigint;
  spent: bigint;
  /** Amount that running requests hold. */
  outstanding: bigint;
  /** Amount that was spent above holds, which cannot be prevented. */
  over: bigint;
}

let serial = 0;

async function openWorld(
  stores: Stores,
  wide: bigint,
  narrow: bigint,
  tally: { operations: number; held: number; blocked: number },
): Promise<{ perform(operation: Operation): Promise<void>; finish(): Promise<void> }> {
  serial += 1;
  const [organization, key] = [`budget_${serial}_wide`, `budget_${serial}_narrow`];
  const accounts = new Map<string, Account>();
  for (const [id, limit] of [
    [organization, wide],
    [key, narrow],
  ] as const) {
    accounts.set(id, { limit, spent: 0n, outstanding: 0n, over: 0n });
    await createBudget(stores, id, limit);
  }
  let now = 0;
  const clock = { now: () => Date.now(), monotonic: () => now };
  const posted: LedgerEntry[] = [];
  const shipped = new Set<string>();

  const start = (): Process => {
    const lease = `lease_${(serial += 1)}`;
    const journal: LedgerEntry[] = [];
    // While a process waits for money, the other processes give back unused leases within a quarter of a second.
    const pause = async () => {
      for (const other of processes) await other.leaseStore.yieldContended();
    };
    const leaseStore = new BudgetLeases(
      lossyStore(stores.leases, () => process.isCutOff),
      lease,
      clock,
      pause,
    );
    const billing = new Billing(leaseStore, {
      append: ({ entry }) => void journal.push(entry),
      isWritable: () => true,
      refusal: () => null,
    });
    const process: Process = { lease, leaseStore, billing, journal, open: [], isCutOff: false };
    return process;
  };
  const processes: Process[] = [];
  while (processes.length < PROCESSES) processes.push(start());

  const post = async (process: Process, entries: readonly LedgerEntry[]): Promise<void> => {
    await stores.ledger.post(process.lease, entries);
    for (const entry of entries) {
      if (shipped.has(`${entry.id} ${entry.kind}`)) continue;
      shipped.add(`${entry.id} ${entry.kind}`);
      posted.push(entry);
    }
  };
  const book = (entry: LedgerEntry): void => {
    for (const budget of entry.budgets) accounts.get(budget)!.spent += entry.amount;
  };
  const release = ({ budgets, amount }: Process["open"][number]): void => {
    for (const budget of budgets) accounts.get(budget)!.outstanding -= amount;
  };
  const rest = (budget: string): bigint => {
    const { limit, spent, outstanding } = accounts.get(budget)!;
    return limit - spent - outstanding;
  };

  const deeds: Record<Operation["kind"], (process: Process, operation: Operation) => Promise<void>> = {
    async hold(process, { amount, pick }) {
      const budgets = pick % 3 === 0 ? [organization] : [organization, key];
      const wanted = BigInt(amount);
      const [least, most] = [-1n, 1n].map((sign) =>
        budgets.every((budget) => rest(budget) + sign * accounts.get(budget)!.over >= wanted),
      );
      const hold = await holdOf(process.billing, budgets, wanted);
      // Other processes learn of overspending only when its charge is posted, so they may decide wrongly by that
      // amount.
      if (hold ? !most : least) {
        const rests = budgets.map((budget) => `${budget} ${rest(budget)}`).join(", ");
        throw new Error(`${hold ? "admitted" : "refused"} ${wanted} of ${rests}`);
      }
      tally[hold ? "held" : "blocked"] += 1;
      if (!hold) return;
      for (const budget of budgets) accounts.get(budget)!.outstanding += wanted;
      process.open.push({ hold, budgets, amount: wanted });
    },
    async settle(process, { pick, amount }) {
      const [request] = process.open.splice(pick % Math.max(1, process.open.length), 1);
      if (!request) return;
      // In half of the runs no request costs more than its hold. The amounts of these runs must be exact.
      const isOver = wide % 2n === 0n && pick % OVER_EVERY === 0;
      const spent = isOver ? request.amount + OVER_NANOS : BigInt(amount) % (request.amount + 1n);
      if (isOver) for (const budget of request.budgets) accounts.get(budget)!.over += OVER_NANOS;
      const entry = anEntry(`entry_${(serial += 1)}`, spent, request.budgets);
      process.billing.settle(request.hold, entry);
      release(request);
      book(entry);
    },
    async release(process, { pick }) {
      const [request] = process.open.splice(pick % Math.max(1, process.open.length), 1);
      if (!request) return;
      process.billing.release(request.hold);
      release(request);
    },
    ship: async (process, { amount }) => post(process, process.journal.splice(0, amount)),
    async replay(process, { pick }) {
      const earlier = posted.slice(pick % (posted.length + 1)).slice(0, 10);
      await post(process, earlier.toReversed());
    },
    async refund(process, { pick }) {
      const charge = posted[pick % Math.max(1, posted.length)];
      if (!charge || charge.kind !== "charge" || shipped.has(`${charge.id} refund`)) return;
      const refund: LedgerEntry = { ...charge, kind: "refund", amount: -charge.amount, corrects: charge.id };
      await post(process, [refund]);
      book(refund);
    },
    yield: (process) => process.leaseStore.yieldContended(),
    "give-back": (process) => process.leaseStore.giveBack(),
    renew: (process) => process.leaseStore.renew(),
    async crash(process) {
      processes[processes.indexOf(process)] = start();
      process.open.forEach(release);
      await post(process, process.journal);
      await stores.leases.release(process.lease);
    },
    async expire(process) {
      // An operator writes off a process only if it has no holds and no journal entries.
      if (process.open.length > 0 || process.journal.length > 0) return;
      await expireLeases(stores, process.lease);
      now += EXPIRY_MS;
      await stores.admin.budgets.writeOff(process.lease, BY);
      for (const other of processes) if (other !== process) await other.leaseStore.renew();
    },
    async lose(process, { amount, pick }) {
      process.isCutOff = true;
      const budgets = [organization, key];
      const lost = await Promise.resolve(
        pick % 2 === 0 ? process.leaseStore.giveBack() : process.leaseStore.hold(budgets, BigInt(amount)),
      ).catch((error: unknown) => (error instanceof DependencyError ? null : Promise.reject(error)));
      process.isCutOff = false;
      if (lost && typeof lost === "object") process.leaseStore.settle(lost, 0n);
      // By renewing, the process receives the lost result.
      await process.leaseStore.renew();
    },
  };

  return {
    async perform(operation) {
      now += STEP_MS;
      tally.operations += 1;
      await deeds[operation.kind](processes[operation.process]!, operation);
      if (operation.pick % 50 === 0) await compare(stores, accounts, posted);
    },
    async finish() {
      for (const process of processes) {
        process.open.splice(0).forEach((request) => {
          process.billing.release(request.hold);
          release(request);
        });
        await post(process, process.journal.splice(0));
        await process.leaseStore.giveBack();
        await stores.leases.release(process.lease);
      }
      await compare(stores, accounts, posted);
      for (const [id, { spent }] of accounts) {
        const { held } = await historyOf(stores, id);
        const sum = await stores.ledger.sumOfBudget(id);
        if (held !== 0n || sum !== spent)
          throw new Error(`${id} ends with ${held} held and ${sum} of ${spent} booked`);
      }
    },
  };
}

/** Checks that each budget has spent the posted amount, holds the sum of its leases, and is within its limit. */
async function compare(
  stores: Stores,
  accounts: ReadonlyMap<string, Account>,
  posted: readonly LedgerEntry[],
): Promise<void> {
  for (const [id, { limit, over }] of accounts) {
    const { spent, held, leases } = await historyOf(stores, id);
    const wanted = posted.reduce((sum, entry) => sum + (entry.budgets.includes(id) ? entry.amount : 0n), 0n);
    if (spent !== wanted) throw new Error(`${id} has spent ${spent}, not ${wanted}`);
    if (held !== leases) throw new Error(`${id} holds ${held}, its leases ${leases}`);
    if (spent + held > limit + over)
      throw new Error(`${id} is over its limit: ${spent} and ${held} of ${limit}`);
  }
}

async function historyOf(
  stores: Stores,
  id: string,
): Promise<{ spent: bigint; held: bigint; leases: bigint }> {
  const [row] = await stores.database.read(
    (sql) => sql<{ spent: bigint; held: bigint; leases: bigint | null }[]>`
      SELECT spent, held, (SELECT SUM(amount) FROM leases WHERE budget = ${id}) AS leases FROM budgets WHERE id = ${id}`,
  );
  return { spent: row!.spent, held: row!.held, leases: row!.leases ?? 0n };
}

async function holdOf(billing: Billing, budgets: readonly string[], amount: bigint): Promise<Hold | null> {
  const principal = { organization: { budgets: budgets.slice(0, 1) }, key: { budgets: budgets.slice(1) } };
  try {
    return await billing.hold(principal as unknown as Principal, () => amount);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "BILLING_BLOCKED") return null;
    throw error;
  }
}

/** Returns a store. The results of `take`, `giveBack` and `close` are lost while `isCutOff` returns true. */
function lossyStore(store: BudgetStore, isCutOff: () => boolean): BudgetStore {
  const received = async <Result>(result: Promise<Result>): Promise<Result> => {
    const value = await result;
    if (isCutOff()) throw new DependencyError("the result was lost");
    return value;
  };
  return {
    take: (lease, requests) => received(store.take(lease, requests)),
    giveBack: (lease, amounts) => received(store.giveBack(lease, amounts)),
    close: (lease, amounts) => received(store.close(lease, amounts)),
    renew: (lease, budgets) => store.renew(lease, budgets),
    contended: (lease) => store.contended(lease),
  };
}

function expireLeases({ database }: Stores, lease: string): Promise<unknown> {
  return database.begin((sql) => sql`UPDATE leases SET expires_at = 1 WHERE lease = ${lease}`);
}

function createBudget(stores: Stores, id: string, amount: bigint): Promise<unknown> {
  return stores.admin.budgets.create(
    {
      id,
      organizationId: "org_model",
      keyId: null,
      amount,
      period: "total",
      spent: 0n,
      held: 0n,
      periodStart: 0,
      createdAt: 0,
    },
    BY,
  );
}

function anEntry(id: string, amount: bigint, budgets: readonly string[]): LedgerEntry {
  return {
    id,
    kind: "charge",
    requestId: id,
    organizationId: "org_model",
    keyId: "key_model",
    model: "model",
    channel: "channel",
    upstreamModel: "model",
    at: 1_700_000_000_000,
    usage: null,
    amount,
    currency: "USD",
    priceSource: "default",
    orphanCost: 0n,
    budgets,
    attempts: [],
    flags: [],
  };
}
