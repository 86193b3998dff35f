import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { openHouse, type House } from "../support/vendor.ts";

let house: House;
beforeAll(async () => {
  house = await openHouse({ lanes: ["forbidden", "missing", "dead"], pairs: ["pair"], maxAttempts: 2 });
}, 30_000);
afterEach(() => house.vendor.reset());
afterAll(() => house[Symbol.asyncDispose]());

async function statusOf(model: string): Promise<number> {
  const body = { model, messages: [{ role: "user", content: "hi" }] };
  const response = await house.gateway.call("/v1/chat/completions", { method: "POST", body });
  await response.text();
  return response.status;
}

test.each([
  ["forbidden", 403],
  ["missing", 404],
])("a %s response without a code does not eject the target", async (model, status) => {
  house.vendor.next({ fault: "error-status", status });
  expect(await statusOf(model)).toBe(502);
  expect(house.vendor.hits).toHaveLength(1);
  expect(await statusOf(model)).toBe(200);
});

test.each([403, 404])("a %i without a code is passed on to the next target", async (status) => {
  house.vendor.next({ fault: "error-status", status });
  expect(await statusOf("pair")).toBe(200);
  expect(house.vendor.hits.map((hit) => hit.json()["model"])).toEqual(["gpt-5.4", "gpt-5.4-mini"]);
});

test("an invalid key ejects the target at once", async () => {
  house.vendor.next({ fault: "unauthorized" });
  expect(await statusOf("dead")).toBe(502);
  expect(await statusOf("dead")).toBe(502);
  expect(house.vendor.hits).toHaveLength(1);
});
