import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exchange, openSocket, statusOf } from "../support/sockets.ts";
import { CHAT, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/* Errors about paths, methods, request ids and the transport. */
let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const send = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${fixture.gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${fixture.gateway.key}`, ...headers },
  });

const ROUTES: [method: string, path: string][] = [
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/images/generations"],
  ["POST", "/v1/images/edits"],
  ["GET", "/v1/models"],
  ["GET", "/v1/models/sandbox-a"],
  ["GET", "/v1/pricing/lookup"],
  ["GET", "/files/x.png"],
  ["GET", "/healthz"],
  ["GET", "/readyz"],
  ["GET", "/metrics"],
  ["GET", "/console"],
];

describe("an unknown path is 404 in JSON", () => {
  test.each([
    "/nothing",
    "/v1",
    "/v1/",
    "/v1/chat",
    "/v1//chat/completions",
    "/v1/chat/completions/",
    "/v1/chat%2fcompletions",
    "/V1/chat/completions",
    "/v1/chat/completions;x",
    "/api",
    "/.env",
    "/files/",
    "/files/..%2f..%2fgateway.sqlite",
    "/files/%00.png",
  ])("%s", async (path) => {
    for (const method of ["GET", "POST"]) {
      const response = await send(method, path);
      expect([path, method, response.status]).toEqual([
        path,
        method,
        method === "POST" && path.startsWith("/files/") && path !== "/files/" ? 405 : 404,
      ]);
      expect(response.headers.get("content-type")).toStartWith("application/json");
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "request_id", "type"]);
      expect(error["request_id"]).toBe(response.headers.get("x-gateway-request-id"));
    }
  });
});

describe("a base address that is a version off is named", () => {
  test.each([
    ["/chat/completions", "/v1/chat/completions", { error: { code: "not_found" } }],
    ["/v1/v1/messages", "/v1/messages", { type: "error", error: { type: "not_found_error" } }],
    [
      "/v1/v1beta/models/x:generateContent",
      "/v1beta/models/x:generateContent",
      { error: { code: 404, status: "NOT_FOUND" } },
    ],
    ["/v1/chat/completions/", "/v1/chat/completions", { error: { code: "not_found" } }],
  ])("%s, in the shape of its clients", async (path, served, shape) => {
    const response = await send("POST", path);
    const body = (await response.json()) as { error: { message: string } };
    const { error } = body;
    expect(body).toMatchObject(shape);
    expect([response.status, error.message]).toEqual([
      404,
      `There is nothing at this path. \`${served}\` is served: check the base address that the client is set to.`,
    ]);
  });

  test("but nothing is guessed for another path", async () => {
    const { error } = (await (await send("POST", "/v1/audio/speech")).json()) as { error: object };
    expect(error).toMatchObject({ message: "There is nothing at this path." });
  });
});

describe("a known path with another method is 405 with Allow", () => {
  test.each(ROUTES)("%s %s", async (method, path) => {
    for (const other of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
      // A POST below /v1/models belongs to the native protocol, which has its own 404.
      const isNative = path.startsWith("/v1/models/") && other === "POST";
      if (other === method || isNative) continue;
      const response = await send(other, path);
      expect([other, response.status]).toEqual([other, 405]);
      expect(response.headers.get("allow")).toContain(method);
      expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } });
    }
  });

  test("in the format of the path's own protocol", async () => {
    const chat = (await (await send("GET", "/v1/chat/completions")).json()) as { error: { type: string } };
    expect(chat.error.type).toBe("invalid_request_error");
    const native = await send("GET", "/v1beta/models/sandbox-b-fast:generateContent");
    expect([native.status, native.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await native.json()).toMatchObject({
      error: { code: 405, details: [{ reason: "method_not_allowed" }] },
    });
  });

  test("a WebSocket's handshake is 426 on every path that exists, without a key", async () => {
    const socket = {
      connection: "Upgrade",
      upgrade: "WebSocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    for (const [, path] of ROUTES) {
      const response = await send("GET", path, socket);
      expect([path, response.status]).toEqual([path, 426]);
      expect(response.headers.get("upgrade")).toBe("HTTP/1.1");
      expect(JSON.stringify(await response.json())).toContain("WebSocket");
    }
    expect((await send("GET", "/v1/nothing", socket)).status).toBe(404);
    expect((await send("GET", "/healthz", { upgrade: "h2c", connection: "upgrade" })).status).toBe(200);
  });

  test("OPTIONS returns no CORS headers", async () => {
    const response = await send("OPTIONS", "/v1/chat/completions", { origin: "https://evil.example" });
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    expect(response.status).toBe(405);
  });

  test("HEAD is handled like GET without a body", async () => {
    for (const path of ["/v1/models", "/healthz", "/readyz"]) {
      const head = await send("HEAD", path);
      const get = await send("GET", path);
      expect([path, head.status]).toEqual([path, get.status]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      expect(await head.text()).toBe("");
    }
    expect((await send("HEAD", "/v1/chat/completions")).status).toBe(405);
    expect((await send("HEAD", "/nothing")).status).toBe(404);
  });
});

describe("request ids", () => {
  test.each(["a", "A-b_c.d:e", "0".repeat(128)])("%p is kept on every route", async (id) => {
    for (const [method, path] of ROUTES) {
      const response = await send(method, path, { "x-request-id": id });
      await response.body?.cancel();
      expect([path, response.headers.get("x-gateway-request-id")]).toEqual([path, id]);
    }
  });

  test.each(["", "0".repeat(129), "a b", "a/b", "ä", "a,b", "<script>"])("%p is replaced", async (id) => {
    const response = await send("GET", "/v1/models", { "x-request-id": id });
    const given = response.headers.get("x-gateway-request-id")!;
    expect(given).toMatch(/^req_[0-9a-f]{32}$/);
    expect(response.headers.get("x-request-id")).toBe(given);
  });

  test("the same id twice is two requests and two charges", async () => {
    const body = { model: CHAT, messages: [{ role: "user", content: "hi" }] };
    for (let turn = 0; turn < 2; turn++) {
      await fixture.gateway.call("/v1/chat/completions", { body, headers: { "x-request-id": "again" } });
    }
    await fixture.gateway.call("/v1/chat/completions", { body, headers: { "x-request-id": "later" } });
    await fixture.gateway.charged("later");
    const rows = await fixture.gateway.charged("again");
    expect(rows).toHaveLength(2);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
  });
});

describe("the transport", () => {
  const body = `{"model":"${CHAT}","messages":[{"role":"user","content":"hi"}]}`;
  const head = (...lines: string[]) =>
    ["POST /v1/chat/completions HTTP/1.1", ...lines, "content-type: application/json"].join("\r\n");
  const auth = () => `authorization: Bearer ${fixture.gateway.key}`;
  const framed = (...lines: string[]) => `${head("host: x", auth(), ...lines)}\r\n\r\n`;

  test.each<[string, () => string]>([
    ["T1 a length and chunks", () => `${framed("content-length: 4", "transfer-encoding: chunked")}0\r\n\r\n`],
    ["T2 two lengths", () => `${framed(`content-length: ${body.length}`, "content-length: 3")}${body}`],
    ["T4 a negative length", () => `${framed("content-length: -1")}${body}`],
    ["T4 a length of 20 digits", () => `${framed("content-length: 99999999999999999999")}${body}`],
    ["T5 an unknown coding", () => `${framed("transfer-encoding: xchunked")}0\r\n\r\n`],
    ["T7 a space before the colon", () => `${framed(`content-length : ${body.length}`)}${body}`],
    ["T9 a NUL in a header", () => `${framed("x-a: a\0b", `content-length: ${body.length}`)}${body}`],
    ["T10 a folded header", () => `${framed("x-a: a\r\n b", `content-length: ${body.length}`)}${body}`],
    ["T11 no host", () => `${head(auth(), `content-length: ${body.length}`)}\r\n\r\n${body}`],
    [
      "T12 two hosts",
      () => `${head("host: a", "host: b", auth(), `content-length: ${body.length}`)}\r\n\r\n${body}`,
    ],
    [
      "T13 a target that is a whole address",
      () => `GET http://169.254.169.254/latest HTTP/1.1\r\nhost: x\r\n${auth()}\r\n\r\n`,
    ],
    ["T19 another protocol", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["T20 a path with NUL", () => `GET /v1/\0models HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])("%s gets no response from a route", async (name, bytes) => {
    fixture.vendor.reset();
    const response = await exchange(fixture.gateway.url, bytes());
    expect([name, response === "" || (statusOf(response) >= 400 && statusOf(response) < 600)]).toEqual([
      name,
      true,
    ]);
    expect(fixture.vendor.hits).toHaveLength(0);
  });

  test("T17, T18: headers of 20 KB, or 3,000 of them, are refused", async () => {
    const large = await exchange(
      fixture.gateway.url,
      `GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: ${"a".repeat(20_000)}\r\n\r\n`,
    );
    const many = `GET /healthz HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(3_000)}\r\n`;
    expect([400, 431]).toContain(statusOf(large));
    expect([400, 431]).toContain(statusOf(await exchange(fixture.gateway.url, many)));
  });

  test("T16 header names of the object's prototype are harmless", async () => {
    const response = await exchange(
      fixture.gateway.url,
      "GET /healthz HTTP/1.1\r\nhost: x\r\n__proto__: x\r\nconstructor: y\r\n\r\n",
    );
    expect(statusOf(response)).toBe(200);
  });

  test("T23 a hundred pipelined requests get responses in order", async () => {
    const socket = await openSocket(fixture.gateway.url);
    let response = "";
    socket.on("data", (piece: Buffer) => (response += piece.toString("latin1")));
    const requests = Array.from(
      { length: 100 },
      (_, index) =>
        `GET /v1/models/none HTTP/1.1\r\nhost: x\r\n${auth()}\r\nx-request-id: pipe-${index}\r\n\r\n`,
    );
    socket.write(requests.join(""));
    const end = performance.now() + 5_000;
    while ((response.match(/^x-request-id:/gim)?.length ?? 0) < 100 && performance.now() < end)
      await Bun.sleep(10);
    socket.destroy();
    const order = [...response.matchAll(/^x-request-id: pipe-(\d+)/gim)].map(([, index]) => Number(index));
    expect(order).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  test("T24 a handshake is answered over HTTP", async () => {
    const lines =
      "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13";
    const response = await exchange(
      fixture.gateway.url,
      `GET /healthz HTTP/1.1\r\nhost: x\r\n${lines}\r\n\r\n`,
    );
    expect(statusOf(response)).toBe(426);
    expect(response.toLowerCase()).toContain("\r\nupgrade: http/1.1\r\n");
  });

  test("T25 TRACE and CONNECT return nothing of the request", async () => {
    const trace = await exchange(
      fixture.gateway.url,
      `TRACE /v1/models HTTP/1.1\r\nhost: x\r\n${auth()}\r\n\r\n`,
    );
    expect(trace).not.toContain(fixture.gateway.key);
    expect(statusOf(trace)).toBeGreaterThanOrEqual(400);
    const connect = await exchange(
      fixture.gateway.url,
      "CONNECT 169.254.169.254:80 HTTP/1.1\r\nhost: x\r\n\r\n",
    );
    expect(statusOf(connect) === 0 || statusOf(connect) >= 400).toBe(true);
  });
});

test("probes and metrics need no key, and metrics name no secret", async () => {
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    expect((await fetch(`${fixture.gateway.url}${path}`)).status).toBe(200);
  }
  const metrics = await (await fetch(`${fixture.gateway.url}/metrics`)).text();
  expect(metrics).toContain("gateway_");
  expect(metrics).not.toContain(fixture.gateway.key);
  expect(JSON.stringify(fixture.gateway.logs())).not.toContain(fixture.gateway.key);
});
