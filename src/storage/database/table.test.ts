import { expect, test } from "bun:test";
import { bit, json, money, moneyJson, named, nullable, optional, table, text, time } from "./table.ts";

interface Thing {
  id: string;
  kind: "large" | "small";
  limits: { perMinute?: number };
  amount: bigint;
  isDisabled: boolean;
  expiresAt: number | null;
  source?: string;
  version: number;
}

const things = table<Thing>("things", {
  id: text(),
  kind: text(),
  limits: json(),
  amount: money(),
  isDisabled: bit(),
  expiresAt: nullable(time()),
  source: optional(text()),
  version: named("revision", time()),
});

const THING: Thing = {
  id: "one",
  kind: "small",
  limits: { perMinute: 3 },
  amount: 2n ** 60n + 1n,
  isDisabled: true,
  expiresAt: null,
  version: 7,
};

const ROW = {
  id: "one",
  kind: "small",
  limits: '{"perMinute":3}',
  amount: 2n ** 60n + 1n,
  is_disabled: 1,
  expires_at: null,
  source: null,
  revision: 7,
};

test("a record is written as a row of its table and read from one", () => {
  expect(things.columns).toBe("id, kind, limits, amount, is_disabled, expires_at, source, revision");
  expect(things.write(THING)).toStrictEqual(ROW);
  expect(things.read(ROW)).toStrictEqual(THING);
  expect(things.read(things.write({ ...THING, source: "a", expiresAt: 5 }))).toStrictEqual({
    ...THING,
    source: "a",
    expiresAt: 5,
  });
});

test("a whole number is read alike as a number, a bigint and a text", () => {
  for (const number of [7, 7n, "7"])
    expect(things.read({ ...ROW, amount: number, is_disabled: 1n, revision: number })).toMatchObject({
      amount: 7n,
      isDisabled: true,
      version: 7,
    });
});

test("other columns of a row and other fields of a record are left out", () => {
  expect(things.read({ ...ROW, now: 5n })).toStrictEqual(THING);
  expect(things.write(Object.assign({ now: 5 }, THING))).toStrictEqual(ROW);
});

test("the first of no rows is null", () => {
  expect(things.first([])).toBeNull();
  expect(things.first([ROW, ROW])).toStrictEqual(THING);
});

test("amounts within JSON are decimal strings", () => {
  const prices = table<{ price: Record<string, bigint> }>("prices", {
    price: moneyJson((written: Record<string, string>) =>
      Object.fromEntries(Object.entries(written).map(([name, amount]) => [name, BigInt(amount)])),
    ),
  });
  expect(prices.write({ price: { high: 10n } })).toEqual({ price: '{"high":"10"}' });
  expect(prices.read({ price: '{"high":"10"}' })).toEqual({ price: { high: 10n } });
});
