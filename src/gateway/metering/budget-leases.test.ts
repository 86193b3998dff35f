import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { granted, leaseWorld } from "../../../test/support/lease-world.ts";
import { DependencyError } from "../dependency-error.ts";
import type { Hold } from "./budget-leases.ts";

const MINUTE_MS = 60_000;

describe("holding", () => {
  test("most requests are admitted without the store", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 800n });
    await budgetLeases.hold(["b"], 1n);
    await budgetLeases.hold(["b"], 1n);
    store.calls.length = 0;
    for (let count = 0; count < 90; count += 1)
      expect(budgetLeases.hold(["b"], 1n)).toMatchObject({ amount: 1n });
    expect(store.calls).toEqual([]);
  });

  test("the amount acquired ahead is an eighth of what is left, in whole requests", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 1000n });
    await budgetLeases.hold(["b"], 7n);
    await budgetLeases.hold(["b"], 7n);
    expect(store.held("b")).toBe(7n + 7n + 119n);
  });

  test("an amount that the process has already is not acquired again", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 1000n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 30n)), 0n);
    await budgetLeases.hold(["b"], 40n);
    expect(store.held("b")).toBe(30n + 10n + 120n);
  });

  test("one call acquires for all requests that wait together", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 64n });
    const holds = await Promise.all(Array.from({ length: 64 }, () => budgetLeases.hold(["b"], 1n)));
    expect(holds.filter((hold) => typeof hold === "object")).toHaveLength(64);
    expect(store.calls.length).toBeLessThan(5);
  });

  test("a lease that requests use is not returned as idle, however seldom the store is called", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 800n });
    for (let count = 0; count < 2; count += 1)
      budgetLeases.settle(await granted(budgetLeases.hold(["b"], 1n)), 0n);
    time.now += 4 * MINUTE_MS;
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 1n)), 0n);
    time.now += 2 * MINUTE_MS;
    await budgetLeases.renew();
    expect(store.calls).not.toContain("close p0");
  });

  test("all budgets are held or none", async () => {
    const { store, budgetLeases } = leaseWorld({ rich: 100n, poor: 5n });
    expect(await budgetLeases.hold(["rich", "poor"], 10n)).toBe("spent");
    expect(store.held("rich")).toBe(0n);
    expect(
      (await granted(budgetLeases.hold(["rich", "poor"], 5n))).leases.map(({ budget }) => budget),
    ).toEqual(["rich", "poor"]);
  });

  test("a smaller request does not take what a waiting one has reserved", async () => {
    const { budgetLeases } = leaseWorld({ b: 10n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 4n)), 0n);
    const large = budgetLeases.hold(["b"], 8n);
    await Promise.resolve();
    const small = budgetLeases.hold(["b"], 2n);
    expect(await large).toMatchObject({ amount: 8n });
    expect(await small).toMatchObject({ amount: 2n });
    expect(await budgetLeases.hold(["b"], 1n)).toBe("held");
  });

  test("the amount that a request did not spend can be held by the next", async () => {
    const { budgetLeases } = leaseWorld({ b: 10n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 4n);
    expect(await budgetLeases.hold(["b"], 7n)).toBe("spent");
    expect(await budgetLeases.hold(["b"], 6n)).toMatchObject({ amount: 6n });
  });

  test("a refusal is remembered a quarter of a second, and refuses no smaller request", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 10n });
    expect(await budgetLeases.hold(["b"], 50n)).toBe("spent");
    const calls = store.calls.length;
    expect(budgetLeases.hold(["b"], 60n)).toBe("spent");
    expect(store.calls).toHaveLength(calls);
    expect(await budgetLeases.hold(["b"], 10n)).toMatchObject({ amount: 10n });
    store.budgets.get("b")!.amount = 100n;
    time.now += 251;
    expect(await budgetLeases.hold(["b"], 60n)).toMatchObject({ amount: 60n });
  });

  test("a refusal is remembered by the amount that the store lacked, not by the local amount", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 10n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 4n)), 0n);
    expect(await budgetLeases.hold(["b"], 12n)).toBe("spent");
    store.budgets.get("b")!.amount = 11n;
    expect(await budgetLeases.hold(["b"], 11n)).toMatchObject({ amount: 11n });
  });

  test("a budget that the store no longer has limits nothing and is not booked on", async () => {
    const { budgetLeases } = leaseWorld({ b: 10n });
    const hold = await granted(budgetLeases.hold(["gone", "b"], 3n));
    expect(hold.leases.map(({ budget }) => budget)).toEqual(["b"]);
    budgetLeases.settle(hold, 3n);
    expect(await budgetLeases.hold(["gone"], 1_000_000n)).toEqual({ amount: 1_000_000n, leases: [] });
  });
});

test("a charge above its hold leaks nothing once it is posted", async () => {
  const { store, budgetLeases } = leaseWorld({ b: 100n });
  budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 15n);
  store.post("p0", "b", 15n);
  await budgetLeases.renew();
  budgetLeases.settle(await granted(budgetLeases.hold(["b"], 85n)), 0n);
  await budgetLeases.giveBack();
  expect(store.held("b")).toBe(0n);
});

test("the debt of a charge above its hold counts once after it is posted", async () => {
  const { store, budgetLeases } = leaseWorld({ b: 100n });
  budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 15n);
  store.post("p0", "b", 15n);
  expect(await budgetLeases.hold(["b"], 85n)).toMatchObject({ amount: 85n });
});

test("a debt is not given back: the store would count it as acquired again", async () => {
  const { store, budgetLeases } = leaseWorld({ b: 100n });
  budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 15n);
  await budgetLeases.giveBack();
  expect([store.held("b"), store.calls]).toEqual([10n, ["take p0"]]);
});

describe("contention", () => {
  test("money that a process does not use goes to the one that needs it", async () => {
    const { store, all } = leaseWorld({ b: 100n }, 2);
    const [idle, busy] = [all[0]!, all[1]!];
    for (const hold of [await granted(idle.hold(["b"], 10n)), await granted(idle.hold(["b"], 20n))])
      idle.settle(hold, 0n);
    expect(store.held("b")).toBe(30n);
    for (let count = 0; count < 10; count += 1) await granted(busy.hold(["b"], 10n));
    expect(await busy.hold(["b"], 1n)).toBe("held");
  });

  test("remainders too small for a request are combined", async () => {
    const { all } = leaseWorld({ b: 12n }, 3);
    for (const budgetLeases of all) budgetLeases.settle(await granted(budgetLeases.hold(["b"], 4n)), 0n);
    expect(await all[0]!.hold(["b"], 12n)).toMatchObject({ amount: 12n });
  });

  test("while other processes need money, only the amounts that requests need are acquired", async () => {
    const { store, time, all } = leaseWorld({ b: 1000n }, 2);
    const budgetLeases = all[0]!;
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 1n)), 0n);
    store.wanted.add("b");
    await budgetLeases.yieldContended();
    expect(store.held("b")).toBe(0n);
    await budgetLeases.hold(["b"], 1n);
    await budgetLeases.hold(["b"], 1n);
    expect(store.held("b")).toBe(2n);
    store.wanted.clear();
    time.now += 5001;
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 1n)), 0n);
    expect(store.held("b")).toBeGreaterThan(100n);
    store.wanted.add("b");
    await budgetLeases.yieldContended();
    expect(store.held("b")).toBe(2n);
  });

  test("a process that has nothing to give back does not call the store", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 10n });
    await budgetLeases.yieldContended();
    await budgetLeases.hold(["b"], 10n);
    store.calls.length = 0;
    await budgetLeases.yieldContended();
    expect(store.calls).toEqual([]);
  });

  test("waiting in vain is not repeated for five seconds", async () => {
    const { store, time, all } = leaseWorld({ b: 10n }, 2);
    await all[1]!.hold(["b"], 10n);
    expect(await all[0]!.hold(["b"], 1n)).toBe("held");
    expect(time.now).toBe(900);
    time.now += 300;
    const calls = store.calls.length;
    expect(await all[0]!.hold(["b"], 1n)).toBe("held");
    expect(store.calls).toHaveLength(calls + 1);
  });
});

describe("a hold between a floor and a ceiling", () => {
  test("takes the ceiling where the budgets cover it", async () => {
    const { budgetLeases } = leaseWorld({ b: 100n });
    expect(await budgetLeases.hold(["b"], 40n, 5n)).toMatchObject({ amount: 40n });
  });

  test("takes the amount that the scarcest budget covers, and the same of every budget", async () => {
    const { store, budgetLeases } = leaseWorld({ rich: 100n, poor: 30n });
    const hold = await granted(budgetLeases.hold(["rich", "poor"], 40n, 5n));
    expect(hold).toMatchObject({ amount: 30n });
    budgetLeases.settle(hold, 0n);
    await budgetLeases.giveBack();
    expect([store.held("rich"), store.held("poor")]).toEqual([0n, 0n]);
  });

  test("is refused below the floor", async () => {
    const { budgetLeases } = leaseWorld({ b: 4n });
    expect(await budgetLeases.hold(["b"], 40n, 5n)).toBe("spent");
    expect(await budgetLeases.hold(["b"], 40n, 4n)).toMatchObject({ amount: 4n });
    expect(await budgetLeases.hold(["b"], 40n, 4n)).toBe("held");
  });

  test("takes the local amount while the store is unavailable", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 100n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 30n)), 0n);
    store.fault = () => "before";
    expect(await budgetLeases.hold(["b"], 40n, 5n)).toMatchObject({ amount: 30n });
  });
});

describe("a budget that was changed", () => {
  test("is given back at once and granted anew by the store", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 1000n });
    await granted(budgetLeases.hold(["b"], 1n));
    await granted(budgetLeases.hold(["b"], 1n));
    store.budgets.get("b")!.amount = 2n;
    await budgetLeases.revalidate(["b"]);
    expect(store.held("b")).toBe(2n);
    expect(await budgetLeases.hold(["b"], 1n)).toBe("held");
    store.budgets.get("b")!.amount = 3n;
    await budgetLeases.revalidate(["b"]);
    expect(await budgetLeases.hold(["b"], 1n)).toMatchObject({ amount: 1n });
  });

  test("is not spent from amounts that running requests return", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 100n });
    const running = await granted(budgetLeases.hold(["b"], 50n));
    store.budgets.get("b")!.amount = 0n;
    await budgetLeases.revalidate(["b"]);
    budgetLeases.settle(running, 10n);
    expect(await budgetLeases.hold(["b"], 1n)).toBe("spent");
    await budgetLeases.yieldContended();
    expect(store.held("b")).toBe(10n);
  });

  test("is not spent from the amount that a running request returns while a new one calls the store", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 100n });
    const running = await granted(budgetLeases.hold(["b"], 50n));
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 0n);
    store.fault = () => "before";
    await budgetLeases.revalidate(["b"]).catch(() => {});
    await budgetLeases.renew().catch(() => {});
    store.budgets.get("b")!.amount = 0n;
    store.fault = () => undefined;
    await budgetLeases.renew();
    store.fault = (call) => {
      if (call === "giveBack p0") budgetLeases.settle(running, 0n);
      return undefined;
    };
    expect(await budgetLeases.hold(["b"], 10n)).toBe("spent");
    expect(store.calls).toContain("giveBack p0");
  });

  test("is not spent from a grant from before the change", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 1000n });
    await granted(budgetLeases.hold(["b"], 1n));
    const before = budgetLeases.hold(["b"], 1n);
    while (store.calls.length < 2) await Promise.resolve();
    await Promise.resolve();
    store.budgets.get("b")!.amount = 0n;
    await budgetLeases.revalidate(["b"]);
    await before;
    expect(await budgetLeases.hold(["b"], 1n)).toBe("spent");
    expect(store.held("b")).toBe(2n);
  });
});

describe("an unavailable store", () => {
  test("stops no process that has a lease, for a minute and longer", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 1000n });
    await budgetLeases.hold(["b"], 1n);
    await budgetLeases.hold(["b"], 1n);
    store.fault = () => "before";
    for (let count = 0; count < 100; count += 1) {
      time.now += 600;
      expect(budgetLeases.hold(["b"], 1n)).toMatchObject({ amount: 1n });
      await budgetLeases.yieldContended();
    }
    await expect(budgetLeases.renew()).rejects.toBeInstanceOf(DependencyError);
  });

  test("refuses a hold and leaks nothing, whether or not the money moved", async () => {
    for (const fault of ["before", "after"] as const) {
      const { store, time, budgetLeases } = leaseWorld({ b: 10n });
      store.fault = () => fault;
      await expect(budgetLeases.hold(["b"], 8n)).rejects.toBeInstanceOf(DependencyError);
      store.fault = () => undefined;
      time.now += 300;
      await budgetLeases.hold(["b"], 1n);
      await budgetLeases.renew();
      expect(await budgetLeases.hold(["b"], 9n)).toMatchObject({ amount: 9n });
    }
  });

  test("amounts that running requests return of a changed budget go back to the store by themselves", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 10n });
    const hold = await granted(budgetLeases.hold(["b"], 10n));
    store.budgets.get("b")!.amount = 5n;
    await budgetLeases.revalidate(["b"]);
    budgetLeases.settle(hold, 2n);
    await budgetLeases.yieldContended();
    expect(store.held("b")).toBe(2n);
  });

  test("a grant whose result was lost is found by the next request, which gets all of it", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 10n });
    store.fault = () => "after";
    await expect(budgetLeases.hold(["b"], 8n)).rejects.toBeInstanceOf(DependencyError);
    expect(store.held("b")).toBe(8n);
    store.fault = () => undefined;
    time.now += 300;
    expect(await budgetLeases.hold(["b"], 10n)).toMatchObject({ amount: 10n });
    const calls = store.calls.length;
    expect(await budgetLeases.hold(["b"], 1n)).toBe("held");
    expect(store.calls.slice(calls)).not.toContain("renew p0");
  });

  test("fails the requests that wait behind the first at once", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 10n });
    store.fault = () => "before";
    const holds = await Promise.allSettled(Array.from({ length: 50 }, () => budgetLeases.hold(["b"], 1n)));
    expect(holds.every(({ status }) => status === "rejected")).toBe(true);
    expect(store.calls).toHaveLength(1);
  });

  test("gives back later the amounts that it could not give back", async () => {
    const { store, budgetLeases } = leaseWorld({ b: 10n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 0n);
    store.fault = () => "before";
    await expect(budgetLeases.giveBack()).rejects.toBeInstanceOf(DependencyError);
    store.fault = () => undefined;
    await budgetLeases.renew();
    expect(budgetLeases.hold(["b"], 10n)).toMatchObject({ amount: 10n });
  });
});

const RUNS = 2000;

test(`any history of holds, faults and renewals spends no more than the budget and leaks nothing (${RUNS} runs)`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps(), { maxLength: 40 }), (history) => follow(history)),
    { numRuns: RUNS, seed: 7 },
  );
});

interface Step {
  process: number;
  kind: "hold" | "holdUpTo" | "settle" | "post" | "renew" | "idle" | "yield" | "giveBack" | "revalidate";
  amount: bigint;
  fault: "before" | "after" | undefined;
}

const KINDS = [
  ...(["hold", "hold", "hold", "holdUpTo", "settle", "settle", "post"] as const),
  ...(["renew", "idle", "yield", "giveBack", "revalidate"] as const),
];

function steps(): fc.Arbitrary<Step> {
  return fc.record({
    process: fc.integer({ min: 0, max: 1 }),
    kind: fc.constantFrom(...KINDS),
    amount: fc.bigInt({ min: 1n, max: 30n }),
    fault: fc.constantFrom(undefined, undefined, undefined, "before", "after"),
  });
}

async function follow(history: readonly Step[]): Promise<void> {
  const { store, time, all } = leaseWorld({ b: 200n }, 2);
  const holds: Hold[][] = [[], []];
  const unposted: bigint[][] = [[], []];
  for (const { process, kind, amount, fault } of history) {
    const budgetLeases = all[process]!;
    time.now += 260;
    store.fault = () => fault;
    if (kind === "hold" || kind === "holdUpTo") {
      const ceiling = kind === "hold" ? amount : amount * 5n;
      const hold = await Promise.resolve(budgetLeases.hold(["b"], ceiling, amount)).catch(() => null);
      if (hold && typeof hold === "object") holds[process]!.push(hold);
    } else if (kind === "settle") {
      const hold = holds[process]!.shift();
      const spent = hold && amount < hold.amount ? amount : (hold?.amount ?? 0n);
      if (hold) budgetLeases.settle(hold, spent);
      if (hold) unposted[process]!.push(spent);
    } else if (kind === "post") {
      const spent = unposted[process]!.shift();
      if (spent !== undefined) store.post(`p${process}`, "b", spent);
    } else if (kind === "renew") await budgetLeases.renew().catch(() => {});
    else if (kind === "idle") {
      time.now += 5 * MINUTE_MS;
      await budgetLeases.renew().catch(() => {});
    } else if (kind === "revalidate") await budgetLeases.revalidate(["b"]).catch(() => {});
    else if (kind === "yield") await budgetLeases.yieldContended();
    else await budgetLeases.giveBack().catch(() => {});
    const promised = [...holds.flat().map((hold) => hold.amount), ...unposted.flat()];
    const { spent } = store.budgets.get("b")!;
    expect(promised.reduce((sum, each) => sum + each, spent)).toBeLessThanOrEqual(200n);
  }
  store.fault = () => undefined;
  for (const [process, budgetLeases] of all.entries()) {
    for (const hold of holds[process]!) budgetLeases.settle(hold, 0n);
    for (const spent of unposted[process]!) store.post(`p${process}`, "b", spent);
    await budgetLeases.renew();
    await budgetLeases.giveBack();
  }
  expect(store.held("b")).toBe(0n);
}
