import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { untilServing } from "../support/fleet.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { freePort } from "../support/free-port.ts";

const UNLIMITED = "limits: { default: { requests_per_minute: null, tokens_per_minute: null } }";

/* The configuration changes while a gateway runs, with one process and with two. */
describe.each([1, 2])("with %d processes", (workers) => {
  let vendor: Simulator;
  let directory: string;
  let gateway: TestGateway;
  const file = (name: string) => join(directory, name);

  beforeAll(async () => {
    vendor = await startOpenAi();
    directory = await mkdtemp(join(tmpdir(), "gateway-reload-"));
    await Bun.write(file("secret"), SIMULATED_KEY);
    await write(["first"]);
    gateway = await startTestGateway({
      env: {
        GATEWAY_CONFIG: file("gateway.yaml"),
        GATEWAY_DEFAULT_LIMITS: "",
        ...(workers > 1 && { WORKERS: String(workers), PORT: String(freePort()) }),
      },
    });
    await untilServing(gateway, workers);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await vendor.close();
    await rm(directory, { recursive: true });
  });

  async function write(models: readonly string[], rest = UNLIMITED, input = "1"): Promise<void> {
    const entries = models.map(
      (id) => `  ${id}:
    type: chat
    max_output_tokens: 1000
    price: { per_million: { input: "${input}", output: "1" } }
    route: { targets: [{ channel: house, upstream_model: gpt-5.4 }] }`,
    );
    await Bun.write(
      file("gateway.yaml"),
      `channels:
  house: { provider: openai, base_url: "${vendor.url}/v1", credential: { file: secret } }
models:
${entries.join("\n")}
${rest}`,
    );
  }

  async function chat(model: string): Promise<number> {
    const response = await gateway.call("/v1/chat/completions", {
      body: { model, messages: [{ role: "user", content: "hi" }] },
      // Each request needs a new connection, which may reach another process.
      headers: { connection: "close" },
    });
    await response.text();
    return response.status;
  }

  /** Waits until every process has logged a matching line. */
  async function logged(message: RegExp, after: number): Promise<string> {
    const lines = await until(`a line ${message} of ${workers} processes`, async () => {
      const found = gateway
        .logs()
        .slice(after)
        .filter(({ message: text }) => message.test(String(text)));
      return found.length >= workers ? found : undefined;
    });
    return JSON.stringify(lines);
  }

  test("a model is added and a price changed without a lost request", async () => {
    const statuses: number[] = [];
    const traffic = new AbortController();
    const callers = Array.from({ length: 4 }, async () => {
      while (!traffic.signal.aborted) statuses.push(await chat("first"));
    });
    expect(await chat("second")).toBe(400);
    const before = gateway.logs().length;
    await write(["first", "second"], UNLIMITED, "3");
    const line = await logged(/^configuration reloaded: /, before);
    expect(line).toContain("models.second");
    expect(line).toContain("models.first");
    expect(await Promise.all(Array.from({ length: 10 }, () => chat("second")))).toEqual(Array(10).fill(200));
    traffic.abort();
    await Promise.all(callers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const price = await gateway.call("/v1/pricing/lookup?model=first");
    expect(await price.json()).toMatchObject({ prices: { input: "3.00" } });
  });

  /** Waits until every process reports the value. */
  async function reloadIsOk(value: 0 | 1): Promise<void> {
    await until(`gateway_configuration_reload_ok ${value}`, async () => {
      const text = await (await gateway.call("/metrics")).text();
      const values = [...text.matchAll(/^gateway_configuration_reload_ok\S* (\d)$/gm)].map(
        ([, found]) => found,
      );
      return (values.length === workers && values.every((each) => each === String(value))) || undefined;
    });
  }

  test("an invalid file is reported and the running configuration stays", async () => {
    await reloadIsOk(1);
    const before = gateway.logs().length;
    await write(["first", "third"], `${UNLIMITED}\nnonsense: 1`);
    const line = await logged(/^the configuration was not reloaded/, before);
    expect(line).toContain("nonsense");
    expect(await Promise.all(["first", "second", "third"].map(chat))).toEqual([200, 200, 400]);
    await reloadIsOk(0);
  });

  test("changes that need a restart are reported, the others take effect", async () => {
    const before = gateway.logs().length;
    await write(
      ["first", "fourth"],
      `${UNLIMITED}\nserver: { drain_seconds: 7 }\nrouting: { max_attempts: 9 }`,
    );
    const line = await logged(/^takes effect at the next start: /, before);
    expect(line).toContain("server.drain_seconds");
    expect(line).toContain("routing.max_attempts");
    expect(await Promise.all(["fourth", "second"].map(chat))).toEqual([200, 400]);
    await reloadIsOk(1);
  });

  test("SIGHUP reloads secret files, and a corrected channel serves at once", async () => {
    let before = gateway.logs().length;
    await Bun.write(file("secret"), "sk-not-the-right-one-0123456789");
    gateway.signal("SIGHUP");
    await logged(/^configuration reloaded: channels.house$/, before);
    expect(await Promise.all(Array.from({ length: 6 }, () => chat("first")))).not.toContain(200);
    before = gateway.logs().length;
    await Bun.write(file("secret"), SIMULATED_KEY);
    gateway.signal("SIGHUP");
    await logged(/^configuration reloaded: channels.house$/, before);
    expect(await Promise.all(Array.from({ length: 6 }, () => chat("first")))).toEqual(Array(6).fill(200));
  });

  test("a limit is lowered", async () => {
    const before = gateway.logs().length;
    await write(["first"], "limits: { default: { requests_per_minute: 1 } }");
    await logged(/^configuration reloaded: limits/, before);
    expect(await Promise.all(Array.from({ length: 6 }, () => chat("first")))).toContain(429);
  });

  test("a reload that finds nothing else says what it has read", async () => {
    const before = gateway.logs().length;
    gateway.signal("SIGHUP");
    const line = await logged(/^configuration reloaded: .* have what is running already$/, before);
    expect(line).toContain(file("gateway.yaml"));
  });
});
