import { expect, test } from "bun:test";
import { NOW, refusal, withOrganization } from "../../test/support/admin-context.ts";
import { listPrices, setPrice } from "./prices.ts";

test("a price row holds exact amounts, in the organization's currency, from now or a later date", async () => {
  const context = await withOrganization();
  const row = await setPrice(context, {
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
  expect(await listPrices(context, { organizationId: null })).toMatchObject([
    {
      model: "big-chat",
      effectiveFrom: NOW,
      price: { perMillion: { input: 1_500_000_000n, cacheWrite1h: 3_000_000_000n } },
    },
  ]);
  expect(await listPrices(context, { model: "sandbox-a" })).toEqual([row]);
});

test("a price that cannot be meant is refused", async () => {
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
      'perMillion.input must be a decimal of at most nine places as text, such as "12.50"',
    ]);
  expect(await refusal(setPrice(context, { ...text, perMillion: { input: "1" } }))).toEqual([
    400,
    "perMillion.output",
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
