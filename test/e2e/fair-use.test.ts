import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/*
 * Resources that all requests of a process share. While one organization uses as much as it can, another organization's
 * request must be served in time.
 */
const WAITING = 30;

let vendor: Simulator;
let gateway: TestGateway;
/** Key of the organization that uses as much as it can. */
let greedyKey = "";

beforeAll(async () => {
  vendor = await startOpenAi();
  const yaml = `
channels:
  narrow: { provider: openai, base_url: "${vendor.url}/v1", credential: { env: VENDOR_KEY }, max_concurrent: 2 }
  wide: { provider: openai, base_url: "${vendor.url}/v1", credential: { env: VENDOR_KEY } }
models:
${["narrow", "wide"].map(chatModel).join("\n")}
`;
  gateway = await startTestGateway({ yaml, env: { VENDOR_KEY: SIMULATED_KEY } });
  await gateway.cli("orgs", "create", "--id", "greedy", "--name", "Greedy");
  for (const id of ["greedy", "default"]) await gateway.cli("orgs", "set", id, "--caller-gone", "drain");
  const made = await gateway.cli("keys", "create", "--org", "greedy", "--name", "greedy", "--json");
  greedyKey = JSON.parse(made).secret;
  await until("the key", async () =>
    (await chat("wide", "hello", greedyKey)).status === 200 ? true : undefined,
  );
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await vendor.close();
});

function chatModel(channel: string): string {
  return `  ${channel}-chat:
    type: chat
    max_output_tokens: 1000
    price: { currency: USD, per_million: { input: "1", output: "2" } }
    route: { targets: [{ channel: ${channel}, upstream_model: gpt-5.4 }] }`;
}

function chat(
  channel: string,
  content: string,
  key = gateway.key,
  init: { signal?: AbortSignal; id?: string } = {},
) {
  return gateway.call("/v1/chat/completions", {
    body: { model: `${channel}-chat`, messages: [{ role: "user", content }] },
    headers: { authorization: `Bearer ${key}`, ...(init.id !== undefined && { "x-request-id": init.id }) },
    ...(init.signal && { signal: init.signal }),
  });
}

test("a channel at its max_concurrent serves organizations in turn", async () => {
  let served = 0;
  const hits = vendor.hits.length;
  const greedy = Array.from({ length: WAITING }, async () => {
    const response = await chat("narrow", "[[reply delayMs=150 tokens=3]]", greedyKey);
    served += 1;
    return response.status;
  });
  await vendor.waitForHits(hits + 2);
  const response = await chat("narrow", "[[reply delayMs=150 tokens=3]]");
  expect(response.status).toBe(200);
  expect(served).toBeLessThan(WAITING / 2);
  expect(new Set(await Promise.all(greedy))).toEqual(new Set([200]));
});

test("detached calls of one organization leave slots to another one", async () => {
  const disconnect = async (key: string, id: string) => {
    const client = new AbortController();
    const hits = vendor.hits.length;
    const response = chat("wide", "[[reply delayMs=3000 tokens=20]]", key, { signal: client.signal, id });
    await vendor.waitForHits(hits + 1);
    client.abort();
    await response.catch(() => {});
  };
  for (let number = 0; number < 40; number += 1) await disconnect(greedyKey, `greedy-${number}`);
  await disconnect(gateway.key, "honest");
  const [row] = await gateway.charged("honest");
  expect(row!.flags).toEqual(["caller_gone"]);
  expect(row!.consumed!.tokens!["output"]).toBe(20);
});
