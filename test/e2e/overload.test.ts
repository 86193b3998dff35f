import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { openSocket } from "../support/sockets.ts";

const PROBES = ["/healthz", "/readyz", "/metrics"];
const chatBody = { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] };
const chat = (gateway: TestGateway) => gateway.call("/v1/chat/completions", { body: chatBody });
const stepOf = async ({ url }: TestGateway): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^gateway_overload_step (\d)$/m.exec(text)?.[1]);
};
const untilStep = (gateway: TestGateway, step: number) =>
  until(`overload step ${step}`, async () => ((await stepOf(gateway)) === step ? true : undefined));

test("above the first threshold of memory large bodies are refused before they are read", async () => {
  await using gateway = await startTestGateway({
    yaml: "overload: { large_body_kib: 16, memory_mib: { large_bodies: 1, requests: 1000000 } }",
  });
  await untilStep(gateway, 1);
  expect((await chat(gateway)).status).toBe(200);
  const socket = await openSocket(gateway.url);
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once("data", (bytes: Buffer) => resolve(bytes.toString()));
  const head = [
    "POST /v1/images/edits HTTP/1.1",
    "Host: gateway.test",
    `Authorization: Bearer ${gateway.key}`,
  ];
  socket.write([...head, "Content-Type: application/json", "Content-Length: 20000", "", "{"].join("\r\n"));
  const response = await promise;
  socket.destroy();
  expect(response).toStartWith("HTTP/1.1 503 ");
  expect(response.toLowerCase()).toContain("\r\nretry-after: 2\r\n");
  expect(response).toContain('"code":"overloaded"');
  expect(
    (await gateway.call("/v1/chat/completions", { body: sendPieces(JSON.stringify(chatBody)) })).status,
  ).toBe(503);
}, 30_000);

test("above the second threshold only probes are served, with each error format", async () => {
  await using gateway = await startTestGateway({
    yaml: "overload: { memory_mib: { large_bodies: 1, requests: 1 } }",
  });
  await untilStep(gateway, 2);
  for (const path of PROBES) expect((await gateway.call(path)).status).toBe(200);
  const refused = await chat(gateway);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await refused.json()).toMatchObject({ error: { code: "overloaded" } });
  for (const path of ["/v1/models", "/files/x.png", "/console", "/v1/pricing/lookup"])
    expect([path, (await gateway.call(path)).status]).toEqual([path, 503]);
  expect(
    gateway.logs().some(({ message }) => String(message).startsWith("overload: only probes are served")),
  ).toBe(true);
}, 30_000);

const disk = mkdtempSync(join(tmpdir(), "gateway-small-disk-"));
const isMounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk]).success;
if (!isMounted) console.warn("SKIPPED: a small disk: no tmpfs can be mounted here");

test.skipIf(!isMounted)(
  "a full disk leads through both steps, and free space leads back",
  async () => {
    const filler = join(disk, "filler");
    try {
      await using gateway = await startTestGateway({
        yaml: "overload: { free_disk_mib: { large_bodies: 30, requests: 10 } }",
        env: { GATEWAY_DATA_DIR: join(disk, "data") },
      });
      await untilStep(gateway, 0);
      expect((await chat(gateway)).status).toBe(200);
      writeFileSync(filler, Buffer.alloc(38 * 1024 * 1024));
      await untilStep(gateway, 1);
      expect((await chat(gateway)).status).toBe(200);
      writeFileSync(filler, Buffer.alloc(54 * 1024 * 1024));
      await untilStep(gateway, 2);
      expect((await chat(gateway)).status).toBe(503);
      truncateSync(filler);
      await untilStep(gateway, 0);
      expect((await chat(gateway)).status).toBe(200);
      const lines = gateway.logs().filter(({ message }) => String(message).startsWith("overload: "));
      expect(lines.map(({ level }) => level)).toEqual(["warn", "warn", "info"]);
      const metrics = await (await gateway.call("/metrics")).text();
      expect(metrics).toMatch(/^gateway_free_disk_bytes \d{8}$/m);
      expect(metrics).toMatch(/^gateway_event_loop_lag_seconds [\d.]+$/m);
    } finally {
      Bun.spawnSync(["umount", disk]);
      rmSync(disk, { recursive: true });
    }
  },
  30_000,
);

/** Yields a body without a declared length. */
async function* sendPieces(text: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const bytes = Buffer.from(text);
  yield bytes.subarray(0, 10);
  yield bytes.subarray(10);
}

test("the first scrape has the free space of the disk", async () => {
  await using gateway = await startTestGateway();
  const metrics = await (await gateway.call("/metrics")).text();
  expect(metrics).toMatch(/^gateway_free_disk_bytes \d+$/m);
});
