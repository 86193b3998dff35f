import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { newSecret } from "../../src/lib/secret.ts";
import { freePort } from "../support/fleet.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * The balancers of docs/deployment.md, with the configurations that stand there, in front of two machines.
 */
const NGINX = Bun.which("nginx", { PATH: `${process.env["PATH"]}:/usr/sbin` });
const HAPROXY = Bun.which("haproxy", { PATH: `${process.env["PATH"]}:/usr/sbin` });
const CLIENTS = 8;
/** nginx takes a server that refused a connection out for ten seconds. */
const NGINX_FAIL_MS = 11_000;

const page = await Bun.file(resolve(import.meta.dir, "../../docs/deployment.md")).text();
const key = newSecret();
const ports = [freePort(), freePort()];
const folder = await mkdtemp(join(tmpdir(), "balancers-"));
const children: { kill(): void }[] = [];
let machines: TestGateway[];
let balancers: { name: string; url: string }[];

if (!NGINX || !HAPROXY) console.warn("skipped: nginx and haproxy are needed for test/e2e/balancers.test.ts");

describe.skipIf(!NGINX || !HAPROXY)("behind a balancer", () => {
  beforeAll(async () => {
    machines = await Promise.all(ports.map((port) => startTestGateway({ env: machineEnvironment(port) })));
    balancers = [
      { name: "nginx", url: await startNginx() },
      { name: "HAProxy", url: await startHaproxy() },
    ];
    for (const { name, url } of balancers)
      await until(name, async () => ((await chat(url).catch(() => 0)) === 200 ? true : undefined));
  }, 30_000);

  afterAll(async () => {
    for (const child of children) child.kill();
    await Promise.all((machines ?? []).map((machine) => machine[Symbol.asyncDispose]()));
    await rm(folder, { recursive: true, force: true });
  });

  test("a rolling restart fails no request", async () => {
    const outcomes = new Map(balancers.map(({ name }) => [name, new Map<string, number>()]));
    const stop = new AbortController();
    const load = balancers.flatMap(({ name, url }) =>
      Array.from({ length: CLIENTS }, async () => {
        while (!stop.signal.aborted) count(outcomes.get(name)!, await chat(url).catch(String));
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

test("a health check of HTTP/1.0 without Host is answered", async () => {
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

async function startNginx(): Promise<string> {
  const port = freePort();
  const server = configured("nginx").replace("listen 80;", `listen 127.0.0.1:${port};`);
  await Bun.write(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; events {}
     http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
     fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
     ${server} }`,
  );
  children.push(Bun.spawn([NGINX!, "-c", join(folder, "nginx.conf")], { stderr: "ignore" }));
  return `http://127.0.0.1:${port}`;
}

async function startHaproxy(): Promise<string> {
  const port = freePort();
  const configuration = configured("haproxy").replace("bind :80", `bind 127.0.0.1:${port}`);
  await Bun.write(join(folder, "haproxy.cfg"), `${configuration}\n`);
  children.push(
    Bun.spawn([HAPROXY!, "-f", join(folder, "haproxy.cfg")], { stdout: "ignore", stderr: "ignore" }),
  );
  return `http://127.0.0.1:${port}`;
}

/** A configuration of the page, with the addresses of the machines of this test. */
function configured(name: string): string {
  const text = new RegExp(`<!-- ${name} -->\\s*\`\`\`${name}\\n([\\s\\S]*?)\`\`\``).exec(page)![1]!;
  return text
    .replace("10.0.0.11:8080", `127.0.0.1:${ports[0]}`)
    .replace("10.0.0.12:8080", `127.0.0.1:${ports[1]}`);
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
