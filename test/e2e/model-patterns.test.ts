import { appendFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readError } from "../support/vendor.ts";
import { untilServing } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/*
 * A pattern in the configuration covers all matching models of a vendor. A model has the price of the row of `prices`
 * that matches it.
 */
describe.each([
  ["one process", 1],
  ["two workers", 2],
])("%s", (_, workers) => {
  let vendor: Simulator;
  let gateway: TestGateway;

  beforeAll(async () => {
    vendor = await startOpenAi();
    gateway = await startTestGateway({
      env: {
        VENDOR_KEY: SIMULATED_KEY,
        ...(workers > 1 && { WORKERS: String(workers), PORT: String(freePort()) }),
      },
      yaml: `
channels:
  house: { provider: openai, base_url: "${vendor.url}/v1", credential: { env: VENDOR_KEY } }
models:
  house/*:
    type: chat
    max_output_tokens: 1000
    route: { targets: [{ channel: house }] }
    prices:
      gpt-5.4: { per_million: { input: "0", output: "1" } }
      gpt-5.4*: { per_million: { input: "0", output: "3" } }
`,
    });
    await untilServing(gateway, workers);
  }, 30_000);
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await vendor.close();
  });

  const chat = (model: string, headers: Record<string, string> = {}) =>
    gateway.call("/v1/chat/completions", {
      body: { model, max_tokens: 10, messages: [{ role: "user", content: "[[reply tokens=10]]" }] },
      headers,
    });
  const codeOf = async (response: Response) => [response.status, (await readError(response)).code];

  test("a model that a pattern covers is called by the rest of its name and charged by the nearest row", async () => {
    await expectCovered("at first");
    if (workers > 1) return;
    const metrics = await (await gateway.call("/metrics")).text();
    expect(metrics).toMatch(/^gateway_model_requests_total\{model="house\/\*",.*outcome="200"\} 2$/m);
  });

  test.each(["file", "signal", "database"])("the same after a reload by the %s", async (by) => {
    const file = join(dirname(gateway.dataDirectory), "gateway.yaml");
    const reloads = () =>
      gateway.logs().filter(({ message }) => String(message).startsWith("configuration reloaded"));
    const before = reloads().length;
    if (by === "file") await appendFile(file, "limits: { default: { requests_per_minute: 5000 } }\n");
    if (by === "signal") gateway.signal("SIGHUP");
    if (by === "database")
      await gateway.cli(
        "channels",
        "add",
        "openai",
        "--id",
        "spare",
        "--base-url",
        vendor.url,
        "--credential",
        "env:VENDOR_KEY",
      );
    await until("the reload", () => (reloads().length >= before + workers ? true : undefined));
    await expectCovered(`after ${by}`);
  });

  /** Calls models of both rows, and compares the model names at the vendor and the charges. */
  async function expectCovered(when: string): Promise<void> {
    for (const [model, nanos] of [
      ["gpt-5.4", 10_000n],
      ["gpt-5.4-mini", 30_000n],
    ] as const) {
      const requestId = `${model} ${when}`.replaceAll(" ", "-");
      const response = await chat(`house/${model}`, { "x-request-id": requestId });
      expect(await response.json()).toMatchObject({ model: `house/${model}` });
      expect(vendor.hits.at(-1)!.json()).toMatchObject({ model });
      expect(await gateway.charged(requestId)).toMatchObject([
        { model: `house/${model}`, upstream_model: model, amount: nanos },
      ]);
    }
  }

  // The following tests run with one process only.
  if (workers > 1) return;

  test("a model without a row has no price, and the pattern itself is no model", async () => {
    expect(await codeOf(await chat("house/gpt-4.1"))).toEqual([402, "MODEL_PRICE_NOT_CONFIGURED"]);
    for (const id of ["house/*", "house/", "house/gpt-5.4*", "elsewhere/gpt-5.4"])
      expect(await codeOf(await chat(id))).toEqual([400, "model_not_available_for_routing"]);
    expect(await (await gateway.call("/v1/models")).text()).not.toContain("house/");
  });

  test("a key may be restricted to what a pattern covers", async () => {
    const created = await gateway.cli(
      "keys",
      "create",
      "--name",
      "mini",
      "--model",
      "house/gpt-5.4*",
      "--json",
    );
    const { secret } = JSON.parse(created);
    const headers = { authorization: `Bearer ${secret}` };
    await until("the key to be known", async () =>
      (await gateway.call("/v1/models", { headers })).status === 200 ? true : undefined,
    );
    expect((await chat("house/gpt-5.4-mini", headers)).status).toBe(200);
    expect(await codeOf(await chat("house/gpt-4.1", headers))).toEqual([
      403,
      "model_not_allowed_for_api_key",
    ]);
  });

  test("an organization's own price of one such model takes the place of the row", async () => {
    const amounts = ["--tokens", "input=0", "--tokens", "output=7"];
    await gateway.cli("prices", "set", "house/gpt-5.4", "--org", "default", ...amounts);
    const price = await until("the price", async () => {
      const response = await gateway.call("/v1/pricing/lookup?model=house/gpt-5.4");
      const text = await response.text();
      return text.includes('"source":"organization"') ? text : undefined;
    });
    expect(JSON.parse(price)).toMatchObject({ model: "house/gpt-5.4", prices: { output: "7.00" } });
  });
});
