import { expect, test } from "bun:test";
import { memoryBudgetStore } from "../../../test/support/memory-budget-store.ts";

import type { LedgerEntry } from "../../domain/ledger.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../../domain/organization.ts";
import { type Principal } from "../../domain/api-key.ts";
import { DependencyError } from "../dependency-error.ts";
import type { JournalRecord } from "./stores.ts";
import { BudgetLeases } from "./budget-leases.ts";
import { Billing } from "./billing.ts";

/** Opens billing with budgets in memory, and with a journal that a test can make fail. */
function open(amounts: Record<string, bigint> = { org: 10n, key: 10n }) {
  const store = memoryBudgetStore(amounts);
  const budgetLeases = new BudgetLeases(store, "p", { now: () => 0, monotonic: () => 0 });
  const journal = {
    records: [] as JournalRecord[],
    isBroken: false,
    append(record: JournalRecord) {
      if (this.isBroken) throw new Error("disk full");
      this.records.push(record);
    },
    isWritable() {
      return !this.isBroken;
    },
    refusal: () => null,
  };
  return { store, journal, billing: new Billing(budgetLeases, journal) };
}

function principal(organizationBudgets: string[], keyBudgets: string[]): Principal {
  const organization = {
    id: "acme",
    name: "Acme",
    currency: "USD",
    isDisabled: false,
    models: "*" as const,
    settings: DEFAULT_ORGANIZATION_SETTINGS,
    limits: {},
    routes: new Map(),
    budgets: organizationBudgets,
  };
  const key = {
    id: "key",
    organizationId: "acme",
    name: "Key",
    prefix: "gk_",
    scopes: new Set(["ai:*" as const]),
    models: "*" as const,
    addresses: null,
    limits: {},
    budgets: keyBudgets,
    isDisabled: false,
    refuseIgnored: false,
    expiresAt: null,
  };
  return { organization, key };
}

function entry(amount: bigint): LedgerEntry {
  return {
    id: "req_1",
    kind: "charge",
    requestId: "req_1",
    organizationId: "acme",
    keyId: "key",
    model: "m",
    channel: "c",
    upstreamModel: "u",
    at: 0,
    usage: null,
    amount,
    currency: "USD",
    priceSource: "default",
    orphanCost: 0n,
    budgets: ["org"],
    attempts: [],
    flags: [],
  };
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
  return "none";
}

test("a request is held against its organization's budgets and its key's", async () => {
  const { billing } = open();
  const hold = await billing.hold(principal(["org"], ["key"]), () => 4n);
  expect(hold.leases.map(({ budget }) => budget)).toEqual(["org", "key"]);
});

test("a hold is the amount that the budgets cover, down to the request's floor and not below", async () => {
  const { billing } = open();
  const hold = await billing.hold(
    principal(["org"], []),
    () => 20n,
    () => 10n,
  );
  expect(hold.amount).toBe(10n);
  billing.release(hold);
  const floor = () => 11n;
  expect(await codeOf(() => billing.hold(principal(["org"], []), () => 20n, floor))).toBe("BILLING_BLOCKED");
});

test("without a budget the store is not called and no ceiling is computed", () => {
  const { store, billing } = open();
  const hold = billing.hold(principal([], []), () => {
    throw new Error("computed");
  });
  expect(hold).toMatchObject({ amount: 0n });
  expect(store.calls).toEqual([]);
});

test("an exhausted budget is BILLING_BLOCKED, an unknown one never that", async () => {
  const { store, billing } = open();
  const caller = principal(["org"], []);
  expect(await codeOf(() => billing.hold(caller, () => 11n))).toBe("BILLING_BLOCKED");
  store.fault = () => "before";
  expect(await codeOf(() => billing.hold(caller, () => 5n))).toBe("dependency_unavailable");
});

test("an unavailable store is dependency_unavailable, a bug passes through", async () => {
  const { store, billing } = open();
  store.take = () => Promise.reject(new TypeError("a mistake"));
  await expect(Promise.resolve(billing.hold(principal(["org"], []), () => 5n))).rejects.toBeInstanceOf(
    TypeError,
  );
  store.take = () => Promise.reject(new DependencyError("away"));
  expect(await codeOf(() => billing.hold(principal(["key"], []), () => 5n))).toBe("dependency_unavailable");
});

test("a journal that cannot be written refuses before anything is held", async () => {
  const { store, journal, billing } = open();
  journal.isBroken = true;
  expect(await codeOf(() => billing.hold(principal(["org"], []), () => 1n))).toBe("dependency_unavailable");
  expect(store.calls).toEqual([]);
});

test("a settled charge is journaled and releases the rest of its hold", async () => {
  const { journal, billing } = open();
  billing.settle(await billing.hold(principal(["org"], []), () => 10n), entry(4n));
  expect(journal.records).toMatchObject([{ type: "charge", entry: { amount: 4n } }]);
  expect(await codeOf(() => billing.hold(principal(["org"], []), () => 6n))).toBe("none");
});

test("a charge that cannot be recorded keeps its hold until it is released", async () => {
  const { journal, billing } = open();
  const hold = await billing.hold(principal(["org"], []), () => 10n);
  journal.isBroken = true;
  expect(await codeOf(() => billing.settle(hold, entry(4n)))).toBe("dependency_unavailable");
  journal.isBroken = false;
  expect(await codeOf(() => billing.hold(principal(["org"], []), () => 1n))).toBe("BILLING_BLOCKED");
  billing.release(hold);
  expect(await codeOf(() => billing.hold(principal(["org"], []), () => 10n))).toBe("none");
});

test("a checkpoint that the disk refuses does not end the stream", () => {
  const { billing, journal } = open();
  journal.isWritable = () => true;
  journal.isBroken = true;
  expect(() => billing.checkpoint(entry(1n))).not.toThrow();
});

test("a budget held by running requests is refused with a time to retry, a spent one without", async () => {
  const refusalOf = async ({ billing }: ReturnType<typeof open>) => {
    try {
      return await billing.hold(principal(["org"], []), () => 6n);
    } catch (error) {
      return error instanceof GatewayError ? [error.retryAfterSeconds, error.shouldRetry] : error;
    }
  };
  const [held, spent] = [open(), open()];
  await held.billing.hold(principal(["org"], []), () => 6n);
  expect(await refusalOf(held)).toEqual([1, undefined]);
  spent.billing.settle(await spent.billing.hold(principal(["org"], []), () => 6n), entry(6n));
  expect(await refusalOf(spent)).toEqual([undefined, false]);
});
