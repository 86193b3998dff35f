import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newSecret } from "../../src/lib/secret.ts";
import { findBalancer, startBalancer, type Balancer } from "../support/balancers.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

/* The balancers of docs/run/balancers.md with that page's configurations, in front of two machines. */
const nginx = findBalancer("nginx");
const haproxy = findBalancer("haproxy");
const CLIENTS = 8;
/** After a refused connection, nginx does not use the server for ten seconds. */
const NGINX_FAIL_MS = 11_000;

const key = newSecret();
const ports = [freePort(), freePort()];
let machines: TestGateway[];
let balancers: (Balancer & { name: string })[];

const hasNone = "missing" in nginx || "missing" in haproxy;
if (hasNone) console.warn("skipped: nginx and haproxy are needed for test/e2e/balancers.test.ts");

describe.skipIf(hasNone)("behind a balancer", () => {
  beforeAll(async () => {
    if ("missing" in nginx || "missing" in haproxy) return;
    machines = await Promise.all(ports.map((port) => startTestGateway({ env: machineEnvironment(port) })));
    balancers = [
      { ...(await startBalancer("nginx", nginx.binary, ports)), name: "nginx" },
      { ...(await startBalancer("haproxy", haproxy.binary, ports)), name: "HAProxy" },
    ];
    for (const { name, url } of balancers)
      await until(name, async () => ((await chat(url).catch(() => 0)) === 200 ? true : undefined));
  }, 30_000);

  afterAll(async () => {
    await Promise.all((balancers ?? []).map((balancer) => balancer[Symbol.asyncDispose]()));
    await Promise.all((machines ?? []).map((machine) => machine[Symbol.asyncDispose]()));
  });

  test("a rolling restart fails no request", async () => {
    const outcomes = new Map(balancers.map(({ name }) => [name, new Map<string, number>()]));
    const stop = new AbortController();
    const load = balancers.flatMap(({ name, url }) =>
      Array.from({ length: CLIENTS }, async () => {
        while (!stop.signal.aborted) {
          count(outcomes.get(name)!, await chat(url).catch(String));
          await Bun.sleep(20);
        }
      }),
    );
    for (const [index, machine] of machines.entries()) {
      if (index > 0) await Bun.sleep(NGINX_FAIL_MS);
      expect(await machine.stop()).toBe(0);
      await machine.restart();
    }
    await Bun.sleep(500);
    stop.abort();
    await Promise.all(load);
    for (const { name } of balancers) {
      expect([...outcomes.get(name)!.keys()]).toEqual(["200"]);
      expect(outcomes.get(name)!.get("200")).toBeGreaterThan(200);
    }
  }, 60_000);

  test("a stream arrives as it is written", async () => {
    for (const { url } of balancers) {
      const startedAt = performance.now();
      const response = await post(url, {
        stream: true,
        messages: [{ role: "user", content: "Answer in 400 words." }],
      });
      const reader = response.body!.getReader();
      await reader.read();
      const firstMs = performance.now() - startedAt;
      while (!(await reader.read()).done);
      expect(firstMs).toBeLessThan((performance.now() - startedAt) / 2);
    }
  }, 30_000);

  test("links carry the balancer's address", async () => {
    for (const { name, url } of balancers) {
      const headers = { "x-forwarded-host": "gateway.example" };
      const response = await fetch(`${url}/v1/images/generations`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "sandbox-c", prompt: "A pier", size: "1K", response_format: "url" }),
      });
      const { data } = (await response.json()) as { data: { url: string }[] };
      expect(`${name} ${new URL(data[0]!.url).origin}`).toBe(`${name} http://gateway.example`);
    }
  }, 30_000);
});

test("a health check with HTTP/1.0 and no Host succeeds", async () => {
  await using gateway = await startTestGateway();
  const { promise, resolve: receive } = Promise.withResolvers<string>();
  await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(gateway.url).port),
    socket: {
      open: (socket) => void socket.write("GET /readyz HTTP/1.0\r\n\r\n"),
      data: (_, bytes) => receive(bytes.toString()),
    },
  });
  expect(await promise).toStartWith("HTTP/1.1 200 ");
}, 20_000);

function machineEnvironment(port: number): Record<string, string> {
  return {
    PORT: String(port),
    GATEWAY_BOOTSTRAP_KEY: key,
    LEAVE_SECONDS: "2",
    TRUSTED_PROXIES: "127.0.0.1",
    SANDBOX_TOKENS_PER_SECOND: "400",
  };
}

async function chat(url: string): Promise<number> {
  const response = await post(url, { messages: [{ role: "user", content: "Answer in 3 words." }] });
  await response.text();
  return response.status;
}

function post(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", ...body }),
  });
}

function count(outcomes: Map<string, number>, outcome: string | number): void {
  outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1);
}
