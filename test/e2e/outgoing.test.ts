import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { untilServing } from "../support/fleet.ts";
import { startTestGateway } from "../support/gateway.ts";
import { CHAT, openGatewayFixture } from "../support/vendor.ts";
import { freePort } from "../support/free-port.ts";

const body = (model: string) => ({ model, messages: [{ role: "user", content: "hi" }] });
const DEAD = "http://127.0.0.1:9";

let directory: string;
const file = (name: string) => Bun.file(join(directory, name));
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "gateway-tls-"));
  const command =
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 1";
  const { success } = Bun.spawnSync([...command.split(" "), "-subj", "/CN=localhost"], { cwd: directory });
  expect(success).toBe(true);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("NODE_TLS_REJECT_UNAUTHORIZED does not disable certificate checks, also not in workers", async () => {
  let hits = 0;
  const vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { key: file("key.pem"), cert: file("cert.pem") },
    fetch: () => {
      hits += 1;
      return new Response("{}");
    },
  });
  const yaml = `
channels: { own: { provider: openai, base_url: "https://localhost:${vendor.port}/v1", credential: { env: VENDOR_KEY } } }
models:
  own:
    type: chat
    max_output_tokens: 100
    price: { currency: USD, per_million: { input: "1", output: "1" } }
    route: { targets: [{ channel: own }] }
`;
  const variants: Record<string, string>[] = [{}, { WORKERS: "2", PORT: String(freePort()) }];
  try {
    for (const env of variants) {
      await using gateway = await startTestGateway({
        yaml,
        env: { VENDOR_KEY: "sk-test", NODE_TLS_REJECT_UNAUTHORIZED: "0", ...env },
      });
      await untilServing(gateway, Number(env["WORKERS"] ?? 1));
      expect((await gateway.call("/v1/chat/completions", { body: body("own") })).status).toBe(502);
    }
    expect(hits).toBe(0);
  } finally {
    await vendor.stop(true);
  }
}, 40_000);

test("a proxy of the environment is used only when the configuration allows it", async () => {
  const env = { HTTP_PROXY: DEAD, http_proxy: DEAD, HTTPS_PROXY: DEAD };
  const call = async (more: Record<string, string>): Promise<number> => {
    await using fixture = await openGatewayFixture({ env: { ...env, ...more } });
    return (await fixture.gateway.call("/v1/chat/completions", { body: body(CHAT) })).status;
  };
  expect(await call({})).toBe(200);
  expect(await call({ OUTBOUND_PROXY: "environment" })).toBe(502);
}, 40_000);
