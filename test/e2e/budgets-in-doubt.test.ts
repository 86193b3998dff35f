import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { openFleet, readBudget, untilBudgetInForce, type Fleet } from "../support/fleet.ts";

/** Kills a gateway during a stream. The expired lease still holds an amount, and the journal is not posted. */
async function withVanishedProcess(fleet: Fleet): Promise<void> {
  const [gateway] = fleet.gateways;
  await gateway!.cli("budgets", "create", "--amount", "1");
  await untilBudgetInForce(fleet);
  await (await fleet.chat()).text();
  const response = await fleet.chat({
    isStream: true,
    tokens: 50,
    prompt: "[[reply tokens=50 frameDelayMs=100]]",
  });
  await response.body!.getReader().read();
  await gateway!.kill();
  using database = new Database(join(gateway!.dataDirectory, "gateway.sqlite"));
  database.run("UPDATE leases SET expires_at = 1");
}

test("the next start posts a killed process's journal and releases its holds", async () => {
  await using fleet = await openFleet();
  await withVanishedProcess(fleet);
  const [gateway] = fleet.gateways;
  expect((await readBudget(fleet)).held).toBeGreaterThan(0n);
  await gateway!.restart();
  expect(JSON.parse(await gateway!.cli("budgets", "in-doubt", "--json"))).toEqual([]);
  const { spent, held } = await readBudget(fleet);
  expect(held).toBe(0n);
  expect(spent).toBeGreaterThanOrEqual(8_000n);
}, 30_000);

test("an operator lists and writes off leases of lost processes", async () => {
  await using fleet = await openFleet();
  await withVanishedProcess(fleet);
  const [gateway] = fleet.gateways;
  const inDoubt = JSON.parse(await gateway!.cli("budgets", "in-doubt", "--json"));
  expect(inDoubt).toHaveLength(1);
  const { process } = inDoubt[0];
  await gateway!.cli("budgets", "write-off", process);
  expect((await readBudget(fleet)).held).toBe(0n);
  expect(await gateway!.cli("audit", "list", "--subject", process)).toContain("budget");
  await expect(gateway!.cli("budgets", "write-off", process)).rejects.toThrow("nothing in doubt");
}, 30_000);
