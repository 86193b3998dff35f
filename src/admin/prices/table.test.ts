import { expect, test } from "bun:test";
import { createOrganization, setPrice } from "../../../test/support/admin-calls.ts";
import { withOrganization } from "../../../test/support/admin-context.ts";
import { readPriceTable } from "./table.ts";

test("the table names every model with what it costs, and where each amount comes from", async () => {
  const context = await withOrganization();
  const { data } = await readPriceTable(context, { organizationId: "acme" });
  expect(data.map(({ model }) => model)).toEqual([...context.catalogue.models.declared.keys()].toSorted());
  const priced = data.find(({ type, cells }) => type === "image" && cells.length > 0);
  const [tier, quality] = priced!.cells[0]!.cell.split(":") as [string, string];
  expect(priced!.cells[0]).toMatchObject({ source: "configuration", effectiveFrom: null });

  await setPrice(context, { model: priced!.model, perImage: { [tier]: { [quality]: "0.5" } } });
  const ownPrice = { organizationId: "acme", perImage: { [tier]: { [quality]: "0.75" } } };
  await setPrice(context, { model: priced!.model, ...ownPrice });
  const cellOf = async (input: object) => {
    const table = await readPriceTable(context, input);
    const row = table.data.find(({ model }) => model === priced!.model);
    return row!.cells.find(({ cell }) => cell === `${tier}:${quality}`);
  };
  expect(await cellOf({})).toMatchObject({ amount: "0.50", source: "default" });
  expect(await cellOf({ organizationId: "acme" })).toMatchObject({ amount: "0.75", source: "organization" });
});

test("a model without a price in the organization's currency has no cell", async () => {
  const context = await withOrganization();
  await createOrganization(context, { id: "yen", name: "Yen", currency: "JPY", models: [] });
  const { currency, data } = await readPriceTable(context, { organizationId: "yen" });
  expect(currency).toBe("JPY");
  expect(data.every(({ cells, isEnabled }) => cells.length === 0 && !isEnabled)).toBe(true);
});
