import { describe, expect, test } from "bun:test";
import { granted, leaseWorld } from "../../../test/support/lease-world.ts";
import { DependencyError } from "../dependency-error.ts";

const MINUTE_MS = 60_000;

describe("idle leases", () => {
  const IDLE_MS = 5 * MINUTE_MS;

  test("are returned and forgotten by the store after five minutes", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 100n, busy: 100n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 0n);
    await granted(budgetLeases.hold(["busy"], 50n));
    time.now += IDLE_MS;
    await budgetLeases.renew();
    expect([...store.leases.keys()]).toEqual(["p0 busy"]);
    expect(await budgetLeases.hold(["b"], 100n)).toMatchObject({ amount: 100n });
  });

  test("stay until the charges against them are posted", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 100n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 20n);
    time.now += IDLE_MS;
    await budgetLeases.renew();
    expect(store.held("b")).toBe(20n);
    store.post("p0", "b", 20n);
    time.now += IDLE_MS;
    await budgetLeases.renew();
    expect(store.leases.size).toBe(0);
    expect(await budgetLeases.hold(["b"], 80n)).toMatchObject({ amount: 80n });
  });

  test("are right again when the result of their return was lost", async () => {
    for (const fault of ["before", "after"] as const) {
      const { store, time, budgetLeases } = leaseWorld({ b: 100n });
      budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 0n);
      time.now += IDLE_MS;
      store.fault = (call) => (call === "close p0" ? fault : undefined);
      await expect(budgetLeases.renew()).rejects.toBeInstanceOf(DependencyError);
      budgetLeases.settle(await granted(budgetLeases.hold(["b"], 60n)), 0n);
      store.fault = () => undefined;
      await budgetLeases.renew();
      expect(await budgetLeases.hold(["b"], 100n)).toMatchObject({ amount: 100n });
    }
  });
});

describe("a lease that ran out", () => {
  test("is not used in its last minute", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 100n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 0n);
    time.now += 14 * MINUTE_MS;
    store.fault = () => "before";
    await expect(Promise.resolve(budgetLeases.hold(["b"], 1n))).rejects.toBeInstanceOf(DependencyError);
  });

  test.each([
    ["taking", "take p0"],
    ["renewal", "renew p0"],
  ])("ran from the call of its %s on, however late that was answered", async (_, slow) => {
    const { store, time, budgetLeases } = leaseWorld({ b: 100n });
    store.fault = (call) => {
      if (call === slow) time.now += 2 * MINUTE_MS;
      return undefined;
    };
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 0n);
    if (slow === "renew p0") await budgetLeases.renew();
    time.now = 13 * MINUTE_MS;
    expect(budgetLeases.hold(["b"], 1n)).toMatchObject({ amount: 1n });
    time.now = 14 * MINUTE_MS;
    store.fault = () => "before";
    await expect(Promise.resolve(budgetLeases.hold(["b"], 1n))).rejects.toBeInstanceOf(DependencyError);
  });

  test("runs out although the result of its first grant was lost", async () => {
    const { store, time, budgetLeases } = leaseWorld({ b: 100n });
    store.fault = () => "after";
    await expect(budgetLeases.hold(["b"], 10n)).rejects.toBeInstanceOf(DependencyError);
    store.fault = () => undefined;
    await budgetLeases.renew();
    time.now += 15 * MINUTE_MS;
    store.writeOff("p0");
    store.budgets.get("b")!.spent = 95n;
    expect(await budgetLeases.hold(["b"], 10n)).toBe("spent");
  });

  test("and was written off is neither spent again nor given back twice", async () => {
    const { store, time, all } = leaseWorld({ b: 100n }, 2);
    const [cutOff, other] = [all[0]!, all[1]!];
    const running = await granted(cutOff.hold(["b"], 60n));
    cutOff.settle(await granted(cutOff.hold(["b"], 10n)), 0n);
    time.now += 20 * MINUTE_MS;
    store.writeOff("p0");
    await granted(other.hold(["b"], 40n));
    // This process holds 60 of 100 and the other process holds 40, so nothing is left.
    expect(await cutOff.hold(["b"], 1n)).toBe("held");
    cutOff.settle(running, 60n);
    store.post("p0", "b", 60n);
    await cutOff.renew();
    await cutOff.giveBack();
    expect(store.held("b")).toBe(40n);
    expect(await cutOff.hold(["b"], 1n)).toBe("held");
  });

  test("and was forgotten by the store is no longer spent", async () => {
    const { store, time, all } = leaseWorld({ b: 100n }, 2);
    const [cutOff, other] = [all[0]!, all[1]!];
    await granted(cutOff.hold(["b"], 10n));
    cutOff.settle(await granted(cutOff.hold(["b"], 50n)), 0n);
    time.now += 20 * MINUTE_MS;
    store.writeOff("p0");
    store.leases.clear();
    await granted(other.hold(["b"], 100n));
    await cutOff.renew();
    expect(await cutOff.hold(["b"], 1n)).toBe("held");
  });

  test("is renewed during a call that acquires without counting an amount twice", async () => {
    for (let delay = 0; delay < 12; delay += 1) {
      const { store, budgetLeases } = leaseWorld({ b: 100n });
      budgetLeases.settle(await granted(budgetLeases.hold(["b"], 10n)), 0n);
      const holding = budgetLeases.hold(["b"], 50n);
      for (let tick = 0; tick < delay; tick += 1) await Promise.resolve();
      const renewal = budgetLeases.renew();
      budgetLeases.settle(await granted(holding), 50n);
      await renewal;
      await budgetLeases.giveBack();
      expect(store.held("b")).toBe(50n);
    }
  });

  test("is kept for as long as it is renewed and used", async () => {
    const { time, budgetLeases } = leaseWorld({ b: 100n });
    budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 0n);
    for (let count = 0; count < 60; count += 1) {
      time.now += 30_000;
      budgetLeases.settle(await granted(budgetLeases.hold(["b"], 50n)), 0n);
      await budgetLeases.renew();
    }
    expect(budgetLeases.hold(["b"], 50n)).toMatchObject({ amount: 50n });
  });
});
