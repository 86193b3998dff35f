import { describe, expect, test } from "bun:test";
import { folderWithCatalogue, TEST_PROVIDERS } from "../../test/support/config-fixture.ts";
import { loadSettings } from "./index.ts";
import { ConfigurationError } from "./problems.ts";

async function load(yaml: string) {
  await using folder = await folderWithCatalogue();
  await Bun.write(`${folder.path}/gateway.yaml`, yaml);
  return await loadSettings({
    env: { SANDBOX: "on" },
    cwd: folder.path,
    providers: TEST_PROVIDERS,
    catalogueDirectory: `${folder.path}/catalogue`,
  });
}

async function problemsOf(yaml: string): Promise<string[]> {
  const error = await load(yaml).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigurationError)) throw new Error(`not refused: ${String(error)}`);
  return error.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe("a feature that vendors bill by use", () => {
  const model = (fields: string, id = "mine") => `
models:
  ${id}:
    type: chat
    max_output_tokens: 10
    route: {targets: [{channel: sandbox}]}
    ${fields}
`;
  const MISSING = expect.stringContaining(
    'is missing: vendors bill this feature by use; name its price, or "0"',
  );

  test("needs a price of a use in every price of the model", async () => {
    const features = "allowed_features: [web_search, file_id, web_fetch]";
    const price = 'price: {per_million: {input: "1", output: "1"}}';
    expect(await problemsOf(model(`${features}\n    ${price}`))).toEqual([
      expect.stringMatching(/^models\.mine\.price\.per_use\.web_search: is missing: .*"0"/),
    ]);
    const priced = price.replace("}}", '}, per_use: {web_search: "0.01"}}');
    const { settings } = await load(model(`${features}\n    ${priced}`));
    expect(settings.prices.get("mine")).toMatchObject({ perUse: { web_search: 10_000_000n } });
    const table = `prices: {a: {per_million: {input: "1", output: "1"}}}`;
    expect(await problemsOf(model(`${features}\n    ${table}`, "mine/*"))).toEqual([MISSING]);
  });

  test("has no price above zero where no protocol counts its uses", async () => {
    const price = (amount: string) =>
      `price: {per_million: {input: "1", output: "1"}, per_use: {code_interpreter: "${amount}"}}`;
    expect(await problemsOf(model(price("0.01")))).toEqual([
      expect.stringContaining('models.mine.price.per_use.code_interpreter: must be "0"'),
    ]);
    expect((await load(model(price("0.00")))).settings.prices.has("mine")).toBe(true);
  });
});

describe("a price that depends on the length", () => {
  const long = (fields: string) => `
models:
  mine:
    type: chat
    max_output_tokens: 10
    route: {targets: [{channel: sandbox}]}
    price: {per_million: {input: "1", output: "1"}, long_context: ${fields}}
`;
  test("is read, and names only categories with a price for shorter requests", async () => {
    const { settings } = await load(long('{above: 272000, per_million: {input: "2"}}'));
    expect(settings.prices.get("mine")).toMatchObject({
      longContext: { above: 272_000, perMillion: { input: 2_000_000_000n } },
    });
    expect(await problemsOf(long('{above: 1, per_million: {cache_read: "2"}}'))).toEqual([
      expect.stringContaining("models.mine.price.long_context.per_million.cache_read: needs a price"),
    ]);
    expect(await problemsOf(long("{above: 1, per_million: {}}"))).toHaveLength(1);
    expect(await problemsOf(long('{above: 0, per_million: {input: "2"}}'))).toHaveLength(1);
  });
});
