import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { exchange, openSocket, statusOf } from "../support/sockets.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const send = (target: string, head = "Host: gateway.test\r\n", method = "GET", version = "1.1") =>
  exchange(gateway.url, `${method} ${target} HTTP/${version}\r\n${head}\r\n`);

describe("a target that the runtime rewrites is refused:", () => {
  for (const target of [
    "/v1/../metrics",
    "/./metrics",
    "/v1/%2e%2e/metrics",
    "/v1/%2E./metrics",
    "/v1\\..\\metrics",
    "/v1/..\\metrics",
    "/files/../metrics",
    "/v1/models/x\\..\\..\\..\\metrics",
    "/v1/x/../models",
    "http://gateway.test/v1/../metrics",
  ])
    test(target, async () => {
      const response = await send(target);
      expect(statusOf(response)).toBe(400);
      expect(response).not.toContain("gateway_requests_total");
      expect(response).toContain('"code":"invalid_parameter"');
    });
});

describe("a Host that does not name a host is refused:", () => {
  for (const host of ["x?y", "x/y", "x#y", "a@b", "[::1", "a.b:999999", "a\\b", "a.b, c.d", "ä.b", ""])
    test(JSON.stringify(host), async () => {
      for (const target of ["/v1/chat/metrics", "/metrics", "/healthz"]) {
        const response = await send(target, `Host: ${host}\r\n`);
        expect(statusOf(response)).toBe(400);
        expect(response).not.toContain("gateway_requests_total");
      }
    });

  test("two of them", async () => {
    expect(statusOf(await send("/healthz", "Host: a.b\r\nHost: c.d\r\n"))).toBe(400);
    expect(statusOf(await send("/healthz", "Host: a.b\r\nHost: a.b\r\n"))).toBe(400);
  });
});

test("two lengths, also equal ones, and lengths of anything but digits are refused on every route", async () => {
  const head = `Host: gateway.test\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;
  const { paths } = (await (await gateway.call("/openapi.json")).json()) as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    ["post", "patch", "put", "delete"]
      .filter((method) => method in methods)
      .map((method) => [method, path] as const),
  );
  expect(routes.length).toBeGreaterThan(60);
  const lengths = [
    "Content-Length: 2\r\nContent-Length: 2\r\n",
    "Content-Length: 2, 2\r\n",
    "Content-Length: +2\r\n",
  ];
  for (const [method, path] of routes) {
    const target = path.replaceAll(/\{\w+\}/g, "x");
    // Each request has its own connection, because the runtime closes a connection whose data it does not read.
    for (const length of lengths) {
      const response = await exchange(
        gateway.url,
        `${method.toUpperCase()} ${target} HTTP/1.1\r\n${head}${length}\r\n{}`,
      );
      expect([method, path, length, statusOf(response)]).toEqual([method, path, length, 400]);
    }
  }
});

test("an absolute target is served by its path", async () => {
  expect(statusOf(await send("http://gateway.test/healthz"))).toBe(200);
  expect(statusOf(await send("http://gateway.test/v1/chat/metrics"))).toBe(404);
});

test("a load balancer's check without a path or a Host is answered like readiness", async () => {
  const response = await send("/", "", "OPTIONS", "1.0");
  expect(statusOf(response)).toBe(200);
  expect(response).toContain('{"status":"ready"}');
  expect(statusOf(await send("/"))).toBe(405);
});

test("TRACE and CONNECT are refused and return nothing of the request", async () => {
  for (const method of ["TRACE", "CONNECT"]) {
    const response = await send("/healthz", "Host: gateway.test\r\nX-Secret: 4711\r\n", method);
    expect(statusOf(response)).toBe(405);
    expect(response).not.toContain("4711");
  }
});

test("two Authorization headers are not a key", async () => {
  const head = `Host: gateway.test\r\nAuthorization: Bearer ${gateway.key}\r\n`;
  expect(statusOf(await send("/v1/models", head))).toBe(200);
  expect(statusOf(await send("/v1/models", `${head}Authorization: Bearer ${gateway.key}\r\n`))).toBe(401);
});

test("paths with a parameter, a query and a doubled method are routed as they are", async () => {
  expect((await gateway.call("/v1/models/sandbox-chat?x=/../y")).status).toBe(200);
  expect((await gateway.call("/v1/models/sandbox-chat", { method: "HEAD" })).status).toBe(200);
  expect((await gateway.call("/v1/models?after=..")).status).toBe(200);
  expect((await gateway.call("/v1/nothing")).status).toBe(404);
});

test("no response may be stored or its type guessed unless its endpoint allows it", async () => {
  const chat = { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] };
  const picture = { model: "sandbox-c", prompt: "A pier", size: "1K", response_format: "b64_json" };
  const responses = await Promise.all([
    gateway.call("/v1/chat/completions", { body: chat }),
    gateway.call("/v1/chat/completions", { body: {} }),
    gateway.call("/v1/images/generations", { body: picture }),
    gateway.call("/v1/pricing/lookup"),
    gateway.call("/v1/nothing"),
    gateway.call("/v1/models", { headers: { authorization: "" } }),
    gateway.call("/healthz"),
    gateway.call("/metrics"),
  ]);
  for (const { url, headers } of responses) {
    const found = [headers.get("cache-control"), headers.get("x-content-type-options")];
    expect([url, ...found]).toEqual([url, "no-store", "nosniff"]);
  }
  const models = await gateway.call("/v1/models");
  expect(models.headers.get("cache-control")).toBe("private, max-age=0, must-revalidate");
  expect(models.headers.get("x-content-type-options")).toBe("nosniff");
  const stream = await gateway.call("/v1/chat/completions", { body: { ...chat, stream: true } });
  expect(stream.headers.get("x-content-type-options")).toBe("nosniff");
  await stream.text();
});

test("a connection with thousands of requests at once is closed, many connections at once are served", async () => {
  const socket = await openSocket(gateway.url);
  let received = "";
  socket.on("data", (piece: Buffer) => (received += piece.toString("latin1")));
  socket.write("GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n".repeat(20_000));
  await until("the end", () => Promise.resolve(socket.destroyed || undefined));
  expect(received.split("HTTP/1.1 200").length).toBeLessThan(5_000);
  const statuses = Array.from({ length: 400 }, async () => statusOf(await send("/healthz")));
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
});
