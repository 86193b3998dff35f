import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture({
    extraModels: ["forbidden", "missing", "dead"],
    fallbackModels: ["pair"],
    maxAttempts: 2,
  });
}, 30_000);
afterEach(() => fixture.vendor.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

async function call(model: string): Promise<Response> {
  const body = { model, messages: [{ role: "user", content: "hi" }] };
  const response = await fixture.gateway.call("/v1/chat/completions", { method: "POST", body });
  await response.text();
  return response;
}

const statusOf = async (model: string): Promise<number> => (await call(model)).status;

test.each([
  ["forbidden", 403],
  ["missing", 404],
])("a %s response without a code does not eject the target", async (model, status) => {
  fixture.vendor.next({ fault: "error-status", status });
  expect(await statusOf(model)).toBe(502);
  expect(fixture.vendor.hits).toHaveLength(1);
  expect(await statusOf(model)).toBe(200);
});

test.each([403, 404])("a %i without a code is passed on to the next target", async (status) => {
  fixture.vendor.next({ fault: "error-status", status });
  expect(await statusOf("pair")).toBe(200);
  expect(fixture.vendor.hits.map((hit) => hit.json()["model"])).toEqual(["gpt-5.4", "gpt-5.4-mini"]);
});

test("an invalid key ejects the target at once, and clients are told not to repeat", async () => {
  fixture.vendor.next({ fault: "unauthorized" });
  for (let turn = 0; turn < 2; turn += 1) {
    const { status, headers } = await call("dead");
    expect([status, headers.get("x-should-retry")]).toEqual([502, "false"]);
  }
  expect(fixture.vendor.hits).toHaveLength(1);
});
