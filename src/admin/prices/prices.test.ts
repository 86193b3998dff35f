import type { Price, PriceRow } from "../../domain/price.ts";
import { PatternMap } from "../../lib/pattern-map.ts";
import { expect, test } from "bun:test";
import { removePrice, setPrice } from "../../../test/support/admin-calls.ts";
import { NOW, refusal, withOrganization } from "../../../test/support/admin-context.ts";

test("a price row holds exact amounts, in the organization's currency, from now or a later date", async () => {
  const context = await withOrganization();
  const { row } = await setPrice(context, {
    organizationId: "acme",
    model: "sandbox-a",
    perImage: { "1K": { low: "0.000000001", "*": "12" } },
    effectiveFrom: NOW + 5,
  });
  expect(row).toMatchObject({
    currency: "USD",
    effectiveFrom: NOW + 5,
    price: { unit: "image", perImage: { "1K": { low: 1n, "*": 12_000_000_000n } } },
  });
  await setPrice(context, {
    model: "big-chat",
    perMillion: { input: "1.5", output: "2", cacheWrite1h: "3" },
  });
  expect(await context.store.prices.list({ organizationId: null })).toMatchObject([
    {
      model: "big-chat",
      effectiveFrom: NOW,
      price: { perMillion: { input: 1_500_000_000n, cacheWrite1h: 3_000_000_000n } },
    },
  ]);
  expect(await context.store.prices.list({ model: "sandbox-a" })).toEqual([row]);
});

test("an invalid price is refused", async () => {
  const context = await withOrganization();
  const image = { model: "sandbox-a", perImage: { "1K": { low: "1" } } };
  const text = { model: "big-chat", perMillion: { input: "1", output: "2" } };
  expect(await refusal(setPrice(context, { ...text, model: "big-cat" }))).toEqual([
    400,
    "model",
    expect.any(String),
  ]);
  for (const input of ["-1", "1e3", "0.0000000001", 1, ""])
    expect(await refusal(setPrice(context, { ...text, perMillion: { input, output: "2" } }))).toEqual([
      400,
      "perMillion.input",
      'perMillion.input must be a decimal of at most nine digits and nine places as text, such as "12.50"',
    ]);
  expect(await refusal(setPrice(context, { ...text, perMillion: {} }))).toEqual([
    400,
    "perMillion",
    expect.any(String),
  ]);
  expect(await refusal(setPrice(context, { ...image, model: "big-chat" }))).toEqual([
    400,
    "perMillion",
    expect.any(String),
  ]);
  expect(await refusal(setPrice(context, { ...text, model: "sandbox-a" }))).toEqual([
    400,
    "perImage",
    expect.any(String),
  ]);
  expect(await refusal(setPrice(context, { ...image, perImage: { "4K": { low: "1" } } }))).toEqual([
    400,
    "perImage.4K",
    '"sandbox-a" has no tier 4K, only 1K, 2K',
  ]);
  expect(await refusal(setPrice(context, { ...image, perImage: { "9K": { low: "1" } } }))).toEqual([
    400,
    "perImage.9K",
    '"sandbox-a" has no tier 9K, only 1K, 2K',
  ]);
  expect(await refusal(setPrice(context, { ...image, perImage: { "1K": { hihg: "1" } } }))).toEqual([
    400,
    "perImage.1K",
    '"sandbox-a" has no quality "hihg"; did you mean "high"?',
  ]);
  expect(await refusal(setPrice(context, { ...image, perImage: {} }))).toEqual([
    400,
    "perImage",
    expect.any(String),
  ]);
  expect(await refusal(setPrice(context, { ...text, effectiveFrom: NOW - 1 }))).toEqual([
    400,
    "effectiveFrom",
    expect.any(String),
  ]);
  expect(await refusal(setPrice(context, { ...text, organizationId: "acme", currency: "EUR" }))).toEqual([
    400,
    "currency",
    expect.any(String),
  ]);
  expect(await context.store.prices.list()).toEqual([]);
});

const amounts = (price: Price | null) => Object.fromEntries(price ? ratesIn(price) : []);
const ratesIn = (price: Price) =>
  price.unit === "image"
    ? Object.entries(price.perImage).flatMap(([tier, row]) =>
        Object.entries(row).map(([quality, { amount }]) => [`${tier}:${quality}`, amount]),
      )
    : Object.entries(price.perMillion).map(([category, { amount }]) => [category, amount]);

test("dearer amounts of long requests are kept with the row, and need an amount for the others", async () => {
  const context = await withOrganization();
  const long = (perMillion: object, above: unknown = 200_000) => ({
    model: "big-chat",
    perMillion: { input: "1", output: "2" },
    longContext: { above, perMillion },
  });
  const { row, after } = await setPrice(context, long({ input: "1.5" }));
  expect(row.price).toEqual({
    unit: "token",
    perMillion: { input: 1_000_000_000n, output: 2_000_000_000n },
    longContext: { above: 200_000, perMillion: { input: 1_500_000_000n } },
  });
  expect(after).toMatchObject({
    perMillion: { input: { longContext: { above: 200_000, amount: 1_500_000_000n } } },
  });
  for (const [input, field] of [
    [long({ cacheRead: "1" }), "longContext.perMillion.cacheRead"],
    [long({}), "longContext.perMillion"],
    [long({ input: "1" }, 0), "longContext.above"],
    [long({ input: "1" }, null), "longContext.above"],
    [{ ...long({ input: "1" }), model: "sandbox-a", perMillion: undefined }, "perImage"],
  ] as const)
    expect(await refusal(setPrice(context, input))).toEqual([400, field, expect.any(String)]);
});

test("a row may name prices of uses, above zero only where uses are counted", async () => {
  const context = await withOrganization();
  const use = (perUse: object) => ({ model: "big-chat", perUse });
  const { row, after } = await setPrice(context, use({ web_search: "0.01", code_interpreter: "0" }));
  expect(row.price).toEqual({
    unit: "token",
    perMillion: {},
    perUse: { web_search: 10_000_000n, code_interpreter: 0n },
  });
  expect(after).toMatchObject({ perUse: { web_search: { amount: 10_000_000n } } });
  for (const [perUse, field] of [
    [{ code_interpreter: "0.01" }, "perUse.code_interpreter"],
    [{ file_id: "0" }, "perUse.file_id"],
    [{ web_search: "-1" }, "perUse.web_search"],
    [{}, "perMillion"],
  ] as const)
    expect(await refusal(setPrice(context, use(perUse)))).toEqual([400, field, expect.any(String)]);
});

test("a change returns the prices before and after it", async () => {
  const context = await withOrganization();
  const perImage = { "1K": { high: "0.5" } };
  const change = await setPrice(context, { organizationId: "acme", model: "sandbox-a", perImage });
  expect(amounts(change.before)["1K:high"]).not.toBe(500_000_000n);
  expect(amounts(change.after)).toEqual({ ...amounts(change.before), "1K:high": 500_000_000n });
  const removed = await removePrice(context, { id: change.row.id });
  expect(amounts(removed.after)).toEqual(amounts(change.before));
  expect(await refusal(removePrice(context, { id: change.row.id }))).toEqual([409, "id", expect.any(String)]);
  expect(await refusal(removePrice(context, { id: "price_none" }))).toEqual([404, "id", expect.any(String)]);
});

test("a row that leaves a model without any price needs force", async () => {
  const context = await unpricedChat();
  const half = { model: "big-chat", perMillion: { input: "1" } };
  expect(await refusal(setPrice(context, half))).toEqual([409, null, expect.stringContaining("acme")]);
  expect(await context.store.prices.list()).toEqual([]);
  await setPrice(context, half, { isForced: true });
  const { after } = await setPrice(context, { model: "big-chat", perMillion: { output: "2" } });
  expect(amounts(after)).toEqual({ input: 1_000_000_000n, output: 2_000_000_000n });
});

test("a row is not ended while a model loses its price by it, unless forced", async () => {
  const context = await unpricedChat();
  const perMillion = { input: "1", output: "2" };
  const { row } = await setPrice(context, { model: "big-chat", perMillion });
  expect(await refusal(removePrice(context, { id: row.id }))).toEqual([
    409,
    null,
    '"big-chat" would have no price of tokens for acme, and calls would be refused; set another price first, or force it',
  ]);
  const later = { id: row.id, effectiveUntil: NOW + 10 };
  expect((await removePrice(context, later, { isForced: true })).after).toBeNull();
  expect(await context.store.prices.list()).toMatchObject([{ id: row.id, effectiveUntil: NOW + 10 }]);
});

test("a default row in a currency without organizations needs no force", async () => {
  const context = await withOrganization();
  const euros = { model: "sandbox-a", currency: "EUR", perImage: { "1K": { high: "1" } } };
  expect(amounts((await setPrice(context, euros)).after)).toEqual({ "1K:high": 1_000_000_000n });
});

/** Opens one organization and a catalogue without prices. */
async function unpricedChat() {
  const context = await withOrganization();
  return { ...context, catalogue: { ...context.catalogue, prices: new PatternMap<PriceRow>() } };
}
