import { expect, test } from "bun:test";
import fc from "fast-check";
import { newCorrection } from "../../src/admin/ledger/ledger.ts";
import type { SpendingSum, UsageSum } from "../../src/admin/usage/store-port.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { TOKEN_CATEGORIES, type Usage } from "../../src/domain/usage.ts";
import { readSeries } from "../../src/admin/usage/range.ts";
import { daysIn } from "../../src/domain/calendar.ts";
import { DURATION_BUCKETS } from "../../src/domain/traffic.ts";
import { usageStore } from "../../src/storage/tables/usage.ts";
import { openStores, type Stores } from "../../src/storage/tables/stores.ts";
import { aBudget, anEntry, anOrganization, BY, onEachDatabase, temporaryFolder } from "./storage-harness.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A time in the middle of a month, two hours before the end of a day in UTC. */
const START = Date.UTC(2026, 2, 14, 22);
const NAMES = ["organizationId", "keyId", "model", "channel", "source", "client", "currency"] as const;

const DURATIONS = Array.from({ length: DURATION_BUCKETS }, () => 0);
/** Zones with days that do not begin at a full hour of UTC. Sums by key exist by hour only. */
const WITH_PARTS_OF_HOURS = new Set([
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
]);
/** Most of these zones change their clocks between February and June. */
const ZONES = [
  "America/New_York",
  "America/Los_Angeles",
  "America/Santiago",
  "Asia/Tokyo",
  "Australia/Sydney",
  "Europe/Berlin",
  "Europe/London",
  "Pacific/Auckland",
  "Pacific/Kiritimati",
  "Pacific/Norfolk",
  "Pacific/Pago_Pago",
  ...WITH_PARTS_OF_HOURS,
];

const tokens = fc.record(
  Object.fromEntries(TOKEN_CATEGORIES.map((name) => [name, fc.integer({ min: 0, max: 9999 })])),
  { requiredKeys: [] },
);
const usage: fc.Arbitrary<Usage | null> = fc.oneof(
  tokens.map((counts): Usage => ({ unit: "token", tokens: counts, source: "upstream" })),
  fc
    .integer({ min: 0, max: 4 })
    .map((count): Usage => ({ unit: "image", count, tier: "1K", quality: "low" })),
  fc.constant(null),
);
const charge = fc.record({
  organizationId: fc.constantFrom("org_a", "org_b"),
  keyId: fc.constantFrom("key_a", "key_b"),
  model: fc.constantFrom("m1", "m2"),
  channel: fc.constantFrom("c1", "c2"),
  currency: fc.constantFrom("USD", "EUR"),
  at: fc.integer({ min: START, max: START + 3 * DAY_MS }),
  amount: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  orphanCost: fc.bigInt({ min: 0n, max: 10n ** 9n }),
  vendorCost: fc.option(
    fc.record({ amount: fc.bigInt({ min: 0n, max: 10n ** 9n }), currency: fc.constantFrom("USD", "EUR") }),
    { nil: undefined },
  ),
  source: fc.constantFrom("playground/Ada", undefined),
  client: fc.constantFrom("Claude Code", "other", undefined),
  usage,
  budgets: fc.constantFrom([], ["b1"], ["b1", "b2"]),
});

/** Computes the required sums from the entries. */
function recomputed(entries: readonly LedgerEntry[], startOf: (at: number) => number): unknown[] {
  const groups = Map.groupBy(entries, (entry) =>
    JSON.stringify([startOf(entry.at), ...NAMES.map((name) => entry[name] ?? "")]),
  );
  return [...groups]
    .map(([name, own]) => {
      const sum = (of: (entry: LedgerEntry) => bigint) => own.reduce((total, entry) => total + of(entry), 0n);
      const known = own.filter(({ vendorCost, currency }) => vendorCost?.currency === currency);
      return [
        name,
        own.filter(({ kind }) => kind === "charge").length,
        own.reduce((total, { usage: used }) => total + (used?.unit === "image" ? used.count : 0), 0),
        TOKEN_CATEGORIES.map((category) =>
          own.reduce(
            (total, { usage: used }) => total + (used?.unit === "token" ? (used.tokens[category] ?? 0) : 0),
            0,
          ),
        ),
        sum(({ amount }) => amount),
        sum(({ orphanCost }) => orphanCost),
        known.reduce((total, { vendorCost }) => total + (vendorCost?.amount ?? 0n), 0n),
        known.reduce((total, { amount }) => total + amount, 0n),
      ];
    })
    .toSorted(byFirst);
}

function asRow(sum: UsageSum): unknown[] {
  const { requests, images, amount, orphanCost, vendorCost, costed } = sum;
  const counts = TOKEN_CATEGORIES.map((category) => sum.categories[category]);
  expect(sum.tokens).toBe(counts.reduce((total, count) => total + count, 0));
  const name = JSON.stringify([sum.at, ...NAMES.map((each) => sum[each])]);
  return [name, requests, images, counts, amount, orphanCost, vendorCost, costed];
}

function byFirst([one]: unknown[], [other]: unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}

async function summed({ admin }: Stores, span: "minute" | "hour" | "day" | "month"): Promise<unknown[]> {
  const range = { from: 0, to: START + 1e12, span } as const;
  const sums = await admin.usage.sums(range, [
    "at",
    "organizationId",
    "keyId",
    "model",
    "channel",
    "source",
    "client",
  ]);
  return sums.map(asRow).toSorted(byFirst);
}

async function allEntries({ ledger }: Stores): Promise<LedgerEntry[]> {
  return await ledger.list({ limit: 10_000 });
}

async function expectSums(stores: Stores): Promise<void> {
  const entries = await allEntries(stores);
  expect(await summed(stores, "minute")).toEqual(recomputed(entries, (at) => at - (at % MINUTE_MS)));
  expect(await summed(stores, "hour")).toEqual(recomputed(entries, (at) => at - (at % HOUR_MS)));
  expect(await summed(stores, "day")).toEqual(recomputed(entries, (at) => at - (at % DAY_MS)));
  const monthOf = (at: number) => Date.parse(`${new Date(at).toISOString().slice(0, 7)}-01T00:00:00Z`);
  expect(await summed(stores, "month")).toEqual(recomputed(entries, monthOf));
}

onEachDatabase("Sums of usage", (databases) => {
  const folder = temporaryFolder();

  async function openWithBudgets(): Promise<Stores> {
    const stores = await openStores(await databases.location());
    await stores.admin.organizations.create(anOrganization("org_a"), BY);
    for (const id of ["b1", "b2"]) await stores.admin.budgets.create(aBudget(id, 10n ** 15n), BY);
    return stores;
  }

  test("are what the ledger adds up to, after posting twice, refunds and an archive", async () => {
    let round = 0;
    const stores = await openWithBudgets();
    await fc.assert(
      fc.asyncProperty(fc.array(charge, { minLength: 1, maxLength: 60 }), fc.nat(), async (charges, pick) => {
        round += 1;
        const entries = charges.map(({ vendorCost, source, client, ...fields }, index) =>
          anEntry(`e${round}_${index}`, fields.amount, {
            ...fields,
            ...(vendorCost && { vendorCost }),
            ...(source !== undefined && { source }),
            ...(client !== undefined && { client }),
          }),
        );
        await stores.ledger.post("proc_a", entries);
        // Posts entries a second time. For a small `pick`, some of them are twice in this posting.
        await stores.ledger.post("proc_b", [...entries.slice(pick % entries.length), ...entries.slice(0, 3)]);
        const corrected = entries.slice(0, 1 + (pick % 3)).map(({ id }) => id);
        const decide = (sign: bigint) => (history: Parameters<typeof newCorrection>[0]) =>
          newCorrection(history, sign * (history.charge.amount / 3n), START + 5 * DAY_MS);
        await stores.admin.ledger.correct(corrected, decide(-1n), null);
        await stores.admin.ledger.correct(corrected.slice(0, 1), decide(1n), null);
        await expectSums(stores);
      }),
      { numRuns: 12 },
    );
    const before = [await summed(stores, "hour"), await summed(stores, "day")];
    expect(
      await stores.admin.ledger.archive("2026-03", `${folder}/archive-${databases.kind}`, BY),
    ).not.toBeNull();
    expect(await allEntries(stores)).toEqual([]);
    expect([await summed(stores, "hour"), await summed(stores, "day")]).toEqual(before);
    await stores.database.close();
  });

  test("are kept by minute for two days, and for good otherwise", async () => {
    const stores = await openWithBudgets();
    const now = Date.now();
    const entries = [1, 3].map((days) =>
      anEntry(`kept_${days}`, 5n, { organizationId: "org_a", at: now - days * DAY_MS }),
    );
    await stores.ledger.post("proc_a", entries);
    await stores.admin.usage.maintain();
    for (const [span, count] of [
      ["minute", 1],
      ["hour", 2],
      ["day", 2],
    ] as const)
      expect([span, (await summed(stores, span)).length]).toEqual([span, count]);
    await stores.database.close();
  });

  test("of days of a time zone are completed by those of a process that does not add to them", async () => {
    const stores = await openWithBudgets();
    const now = Date.now();
    const entries = Array.from({ length: 30 }, (_, index) =>
      anEntry(`missing_${index}`, BigInt(index + 1), { organizationId: "org_a", at: now - index * HOUR_MS }),
    );
    await stores.ledger.post("proc_a", entries);
    const count = { keyId: "", model: "m", channel: "", route: "chat", status: "2", code: "", charged: 0 };
    const durations = DURATIONS.map((_, bucket) => (bucket === 3 ? 2 : 0));
    await stores.admin.usage.addTraffic([
      { ...count, at: now - (now % MINUTE_MS), organizationId: "org_a", requests: 2, durations },
    ]);
    const { where } = readSeries({ from: now - 3 * DAY_MS, zone: "Asia/Tokyo" }, now + 1, DAY_MS);
    const read = async () => {
      const all = await stores.admin.usage.spending(where, ["at", "model"]);
      const own = await stores.admin.usage.sums({ ...where, organizations: ["org_a"] }, ["at"]);
      const ofClients = await stores.admin.usage.spending(where, ["at", "client"]);
      return [all, own, ofClients, await stores.admin.usage.traffic(where, ["at"])];
    };
    const whole = await read();
    const clear = (table: string) => stores.database.begin((sql) => sql.unsafe(`DELETE FROM ${table}`));
    for (const table of ["usage_series", "caller_series", "traffic_series"]) await clear(table);
    expect(await read()).toEqual([[], [], [], []]);
    await stores.ledger.post("proc_a", [
      anEntry("later", 7n, { organizationId: "org_a", at: now - HOUR_MS }),
    ]);
    for (const _ of [1, 2]) await stores.admin.usage.maintain();
    const completed = await read();
    await stores.database.close();
    const amountOf = (sums: unknown) => (sums as SpendingSum[]).reduce((sum, { amount }) => sum + amount, 0n);
    expect(amountOf(completed[0])).toBe(amountOf(whole[0]) + 7n);
    expect(amountOf(completed[1])).toBe(amountOf(whole[1]) + 7n);
    expect(amountOf(completed[2])).toBe(amountOf(whole[2]) + 7n);
    expect(completed[3]).toEqual(whole[3]!);
  });

  test("come from several writers at once without a loss", async () => {
    const location = await databases.location();
    const writers = [await openStores(location), await openStores(location), await openStores(location)];
    const entries = Array.from({ length: 300 }, (_, index) =>
      anEntry(`w_${index}`, 7n, { keyId: `key_${index % 3}`, at: START + index }),
    );
    await Promise.all(
      writers.map((stores, index) =>
        stores.ledger.post(
          `proc_${index}`,
          entries.toSorted(() => (index === 1 ? -1 : 1)),
        ),
      ),
    );
    for (const stores of writers) await expectSums(stores);
    for (const stores of writers) await stores.database.close();
  });

  test("of days of any time zone are those of its entries and counts", async () => {
    const stores = await openStores(await databases.location());
    const { usage: sums } = stores.admin;
    const begin = Date.UTC(2026, 1, 20);
    const now = begin + 130 * DAY_MS;
    const times = fc.sample(fc.integer({ min: begin, max: now - 1 }), { numRuns: 1_500, seed: 26 });
    const entries = times.map((at, index) =>
      anEntry(`z_${index}`, BigInt(1 + index), {
        at,
        organizationId: `org_${index % 2}`,
        keyId: `key_${index % 4}`,
        model: `m${index % 3}`,
        channel: `c${index % 5}`,
        currency: index % 7 === 0 ? "EUR" : "USD",
        ...(index % 5 === 0 && { source: `playground/${index % 3}` }),
        ...(index % 4 !== 0 && { client: `client_${index % 4}` }),
      }),
    );
    await stores.ledger.post("proc_a", entries);
    const counts = entries.map(({ at, organizationId, keyId, model }, index) => ({
      at: at - (at % MINUTE_MS),
      organizationId,
      keyId: index % 6 === 0 ? keyId : "",
      model,
      channel: "",
      route: index % 9 === 0 ? "attempt" : "chat",
      status: index % 6 === 0 ? "5" : "2",
      code: index % 6 === 0 ? "overloaded" : "",
      requests: 1,
      charged: 0,
      durations: DURATIONS.map((_, bucket) => (bucket === index % DURATIONS.length ? 1 : 0)),
    }));
    await sums.addTraffic(counts);
    const zones = fc.constantFrom(...ZONES);
    const hour = fc.integer({ min: 0, max: 129 * 24 });
    const organizations = fc.constantFrom<(string[] | undefined)[]>(undefined, ["org_1"]);
    await fc.assert(
      fc.asyncProperty(
        zones,
        hour,
        hour,
        organizations,
        fc.boolean(),
        async (zone, one, other, own, isOpen) => {
          const [first, last] = [one, other].toSorted((a, b) => a - b) as [number, number];
          const from = Math.max(begin + first * HOUR_MS, begin + (last - 123 * 24) * HOUR_MS);
          const to = isOpen ? now : begin + (last + 1) * HOUR_MS;
          fc.pre(to - from <= 124 * DAY_MS);
          const { where, zone: found } = readSeries({ from, to, zone, interval: "day" }, now, DAY_MS);
          expect(found).toBe(zone);
          const range = { ...where, ...(own && { organizations: own }) };
          const isIn = (item: { at: number; organizationId: string }) =>
            item.at >= from && item.at < to && (own?.includes(item.organizationId) ?? true);
          const { startOf: dayOf } = daysIn(zone);
          const inRange = entries.filter(isIn);
          for (const by of ["model", "source", "client"] as const) {
            const totals = new Map<string, bigint>();
            for (const { at, [by]: group = "", currency, amount } of inRange) {
              const name = [dayOf(at), group, currency].join();
              totals.set(name, (totals.get(name) ?? 0n) + amount);
            }
            const rows = (await sums.spending(range, ["at", by])).map((sum) => [
              [sum.at, sum[by], sum.currency].join(),
              sum.amount,
            ]);
            expect(rows.toSorted(byFirst)).toEqual([...totals].toSorted(byFirst));
          }
          const ofOrganizations = await sums.spending(range, ["at", "organizationId"]);
          expect(ofOrganizations.reduce((sum, { requests }) => sum + requests, 0)).toBe(inRange.length);
          expect(ofOrganizations.map(({ organizationId }) => organizationId)).not.toContain("*");
          const all = await sums.sums(range, ["at"]);
          expect(all.reduce((sum, { requests }) => sum + requests, 0)).toBe(inRange.length);
          const traffic = Map.groupBy(
            counts.filter((count) => isIn(count) && count.route !== "attempt"),
            ({ at }) => dayOf(at),
          );
          const seen = await sums.traffic(range, ["at"]);
          expect(
            seen.map((sum) => [sum.at, sum.requests, sum.errors, sum.durations]).toSorted(byFirst),
          ).toEqual(
            [...traffic]
              .map(([at, some]) => {
                const fine = some.filter(({ code }) => code === "");
                const durations = DURATIONS.map((_, bucket) =>
                  fine.reduce((sum, count) => sum + (count.durations[bucket] ?? 0), 0),
                );
                return [at, some.length, some.length - fine.length, durations];
              })
              .toSorted(byFirst),
          );
          if (WITH_PARTS_OF_HOURS.has(zone)) return;
          const byKey = new Map<string, number>();
          for (const { at, keyId } of inRange)
            byKey.set(`${dayOf(at)},${keyId}`, (byKey.get(`${dayOf(at)},${keyId}`) ?? 0) + 1);
          const ofKeys = new Map<string, number>();
          for (const { at, keyId, requests } of await sums.spending(range, ["at", "keyId"]))
            ofKeys.set(`${at},${keyId}`, (ofKeys.get(`${at},${keyId}`) ?? 0) + requests);
          expect([...ofKeys].toSorted(byFirst)).toEqual([...byKey].toSorted(byFirst));
        },
      ),
      { numRuns: 30 },
    );
    await stores.database.close();
  });

  test("of some keys and of each organization are those of its entries, and rows of others are not read", async () => {
    const stores = await openStores(await databases.location());
    const begin = Date.UTC(2026, 1, 20);
    const now = begin + 100 * DAY_MS;
    const times = fc.sample(fc.integer({ min: begin, max: now - 1 }), { numRuns: 1_000, seed: 27 });
    const entries = times.map((at, index) =>
      anEntry(`k_${index}`, BigInt(1 + index), {
        at,
        organizationId: `org_${index % 3}`,
        keyId: `key_${index % 6}`,
        model: `m${index % 4}`,
        source: index % 5 === 0 ? "playground/Ada" : "",
      }),
    );
    await stores.ledger.post("proc_a", entries);
    const amountsOf = (items: readonly { keyId: string; organizationId: string; amount: bigint }[]) => {
      const amounts = new Map<string, bigint>();
      for (const { keyId, organizationId, amount } of items) {
        const name = keyId === "" ? organizationId : keyId;
        amounts.set(name, (amounts.get(name) ?? 0n) + amount);
      }
      return [...amounts].toSorted(byFirst);
    };
    const plans: string[] = [];
    const { database } = stores;
    const sums = usageStore({
      ...database,
      async read(query, timeoutMs) {
        if (databases.kind === "sqlite")
          plans.push(
            ...(
              await database.read((sql) => sql<{ detail: string }[]>`EXPLAIN QUERY PLAN ${query(sql)}`)
            ).map(({ detail }) => detail),
          );
        return await database.read(query, timeoutMs);
      },
    });
    const minute = fc.integer({ min: 0, max: 100 * 24 * 60 - 1 });
    await fc.assert(
      fc.asyncProperty(
        minute,
        minute,
        fc.constantFrom("hour", "day", "month", "quarter"),
        fc.constantFrom(undefined, "Asia/Tokyo", "America/New_York"),
        fc.subarray(["key_0", "key_1", "key_4", "key_none"], { minLength: 1 }),
        fc.constantFrom<(string[] | undefined)[]>(undefined, ["m1", "m2"]),
        async (one, other, span, zone, keys, models) => {
          const [first, last] = [one, other].toSorted((a, b) => a - b) as [number, number];
          const cutMs = zone === undefined ? MINUTE_MS : HOUR_MS;
          const from = begin + Math.floor((first * MINUTE_MS) / cutMs) * cutMs;
          const to = begin + (Math.floor((last * MINUTE_MS) / cutMs) + 1) * cutMs;
          const { days } = readSeries(
            { from, to, interval: "day", ...(zone && { zone }) },
            now,
            DAY_MS,
          ).where;
          const range = { from, to, span: days ? ("day" as const) : span, ...(models && { models }) };
          const inRange = entries.filter(
            ({ at, model }) => at >= from && at < to && (models?.includes(model) ?? true),
          );
          const ofKeys = inRange.filter(({ keyId }) => keys.includes(keyId));
          for (const by of [["keyId"], ["at", "keyId"], ["keyId", "source"]] as const) {
            const found = await sums.spending({ ...range, keys, ...(days && { days }) }, by);
            expect(amountsOf(found)).toEqual(amountsOf(ofKeys));
          }
          const ofOrganizations = await sums.sums(range, ["organizationId"]);
          expect(amountsOf(ofOrganizations)).toEqual(
            amountsOf(inRange.map((entry) => ({ ...entry, keyId: "" }))),
          );
        },
      ),
      { numRuns: 30 },
    );
    const searched = plans.filter((plan) => /SEARCH usage_(hours|days|series)/.test(plan));
    expect(plans.filter((plan) => /SCAN usage_/.test(plan))).toEqual([]);
    expect(
      searched.filter(
        (plan) =>
          !/\((at=\? AND organization_id=\? AND key_id=\?|span_ms=\? AND organization_id=\? AND at)/.test(
            plan,
          ),
      ),
    ).toEqual([]);
    expect(searched.length > 0).toBe(databases.kind === "sqlite");
    await database.close();
  });

  test("of a range are the same whether its whole months are read as such or day by day", async () => {
    const stores = await openStores(await databases.location());
    const { usage: sums } = stores.admin;
    const days = 150;
    const entries = Array.from({ length: days * 2 }, (_, index) =>
      anEntry(`m_${index}`, BigInt(index + 1), { model: `m${index % 3}`, at: START + (index * DAY_MS) / 2 }),
    );
    await stores.ledger.post("proc_a", entries);
    const first = START - (START % DAY_MS);
    for (const [begin, length] of [
      [0, days],
      [3, 60],
      [17, 31],
      [18, 30],
      [30, 5],
      [48, 75],
      [100, 50],
    ]) {
      const from = first + begin! * DAY_MS;
      const range = { from, to: from + length! * DAY_MS, span: "day" } as const;
      const amounts = (rows: readonly SpendingSum[]) =>
        ["m0", "m1", "m2"].map((model) =>
          rows.reduce((sum, row) => (row.model === model ? sum + row.amount : sum), 0n),
        );
      const ofModels = await sums.spending(range, ["model"]);
      expect(ofModels).toHaveLength(3);
      expect(amounts(ofModels)).toEqual(amounts(await sums.spending(range, ["at", "model"])));
    }
    await stores.database.close();
  });

  test("of a range that begins and ends within a day are those of its entries, by day", async () => {
    const stores = await openStores(await databases.location());
    const hours = 24 * 70;
    const entries = Array.from({ length: hours }, (_, index) =>
      anEntry(`h_${index}`, BigInt(index + 1), { model: `m${index % 3}`, at: START + index * HOUR_MS }),
    );
    await stores.ledger.post("proc_a", entries);
    const first = START - (START % DAY_MS);
    for (const [begin, length] of [
      [25, 1],
      [30, 60],
      [31, 24 * 35],
      [49, 24 * 60 + 5],
    ] as const) {
      const from = first + begin * HOUR_MS;
      const to = from + length * HOUR_MS;
      const found = await stores.admin.usage.spending({ from, to, span: "day" }, ["at", "model"]);
      const own = entries.filter(({ at }) => at >= from && at < to);
      const days = Map.groupBy(own, ({ at, model }) => `${at - (at % DAY_MS)} ${model}`);
      const wanted = [...days].map(([name, some]) => [
        name,
        some.reduce((sum, { amount }) => sum + amount, 0n),
      ]);
      expect(found.map(({ at, model, amount }) => [`${at} ${model}`, amount]).toSorted(byFirst)).toEqual(
        wanted.toSorted(byFirst),
      );
    }
    await stores.database.close();
  });
});
