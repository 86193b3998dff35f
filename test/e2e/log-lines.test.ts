import { afterAll, beforeAll, expect, test } from "bun:test";
import { until, type LogLine } from "../support/gateway.ts";
import { CHAT, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/* Log lines, and the ids of callers, the ledger and vendors in them. */
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture();
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());

const lineOf = (matches: (line: LogLine) => boolean): Promise<LogLine> =>
  until("the line", () => fixture.gateway.logs().find(matches));

test("one line has the ids of request, charge, trace and vendor call", async () => {
  const { gateway, vendor } = fixture;
  await gateway.call("/v1/chat/completions", {
    headers: { "x-request-id": "traced", traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    body: { model: CHAT, messages: [{ role: "user", content: "hi" }] },
  });
  const [row] = await gateway.charged("traced");
  expect(await lineOf((line) => line["request_id"] === "traced")).toMatchObject({
    ledger_id: row!.id,
    trace_id: TRACE,
    currency: "USD",
    attempts: [{ outcome: "answered", vendor_request_id: "req_simulated0001" }],
  });
  expect(vendor.hits).toHaveLength(1);
});

test("a vendor's failure has the vendor's request id", async () => {
  const { gateway, vendor } = fixture;
  vendor.next({ fault: "error-status", status: 422 });
  await gateway.call("/v1/chat/completions", {
    headers: { "x-request-id": "failed" },
    body: { model: CHAT, messages: [{ role: "user", content: "hi" }] },
  });
  expect(await lineOf((line) => line["request_id"] === "failed")).toMatchObject({
    attempts: [{ outcome: "rejected", status: 422, vendor_request_id: "req_simulated0001" }],
  });
});

test("a refused request has method, path and address", async () => {
  await fixture.gateway.call("/v1/models?secret=1", {
    headers: { authorization: "Bearer gk_unknown", "x-request-id": "refused" },
  });
  expect(await lineOf((line) => line["request_id"] === "refused")).toMatchObject({
    status: 401,
    method: "GET",
    path: "/v1/models",
    address: "127.0.0.1",
  });
});

test("start and stop are logged, probes are not", async () => {
  const { gateway } = fixture;
  await fetch(`${gateway.url}/healthz`);
  expect(await lineOf((line) => String(line["message"]).startsWith("the gateway has started"))).toMatchObject(
    {
      level: "info",
    },
  );
  await gateway.stop();
  const messages = gateway.logs().map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining(["the gateway is stopping: it drains", "the gateway has stopped"]),
  );
  expect(gateway.logs().filter(({ route }) => route === "health")).toEqual([]);
});

test("a reader of the log that ends costs counted lines, and neither requests nor the exit code", async () => {
  await using own = await openGatewayFixture();
  const { gateway } = own;
  await gateway.endLogReader();
  const body = { model: CHAT, messages: [{ role: "user", content: "hi" }] };
  const lost = await until("two lost lines", async () => {
    const { status } = await gateway.call("/v1/chat/completions", { body });
    expect(status).toBe(200);
    const metrics = await (await gateway.call("/metrics")).text();
    const count = Number(/^gateway_log_lines_lost_total (\d+)$/m.exec(metrics)?.[1]);
    return count >= 2 ? count : undefined;
  });
  expect(lost).toBeLessThan(1000);
  const errors = gateway.errors();
  expect(await gateway.stop()).toBe(0);
  expect(errors).not.toContain("EPIPE");
});
