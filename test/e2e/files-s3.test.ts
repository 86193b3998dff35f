import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { parquetReadObjects } from "hyparquet";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { openSocket, writeRequest } from "../support/sockets.ts";
import { startS3, type S3Simulator } from "../upstreams/s3.ts";

/* Downloads of results from object storage. The gateway reads an object in parts, as fast as the client reads. */
const SIZE = 12_000_000;
/** Number of bytes that the gateway reads from the storage in one request. */
const PIECE = 512 * 1024;
const IDLE_SECONDS = 8;
const READERS = 20;

let s3: S3Simulator;
let gateway: TestGateway;
let link = "";
let bytes = new Uint8Array();

beforeAll(async () => {
  s3 = startS3();
  gateway = await startTestGateway({
    yaml: `server: { idle_seconds: ${IDLE_SECONDS} }`,
    env: { BLOB_URL: s3.address, LEDGER_EXPORT_URL: s3.address.replace("/made/here", "/ledger") },
  });
  link = await makePicture();
  bytes = Uint8Array.from({ length: SIZE }, (_, index) => (index * 31) >> 8);
  const [key] = s3.objects.keys();
  s3.objects.set(key!, { bytes, type: "image/png", modifiedAt: Date.now() });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await s3.stop();
});
beforeEach(() => {
  s3.requests.length = 0;
  s3.ranges.length = 0;
});

async function makePicture(): Promise<string> {
  const body = { model: "sandbox-a", prompt: "x", quality: "low", response_format: "url" };
  const made = await gateway.call("/v1/images/generations", { body });
  return ((await made.json()) as { data: { url: string }[] }).data[0]!.url;
}

function fetchLink(headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return fetch(link, { method, headers });
}

test("a whole object arrives unchanged", async () => {
  const response = await fetchLink();
  expect(Bun.hash(await response.bytes())).toBe(Bun.hash(bytes));
});

test.each([
  ["bytes=0-99", 0, 100],
  ["bytes=1000000-1000999", 1_000_000, 1_001_000],
  ["bytes=-100", SIZE - 100, SIZE],
  [`bytes=${SIZE - 5}-`, SIZE - 5, SIZE],
])("of the range %s only that part is read from storage", async (range, start, end) => {
  const response = await fetchLink({ range });
  expect(response.status).toBe(206);
  expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/${SIZE}`);
  expect(response.headers.get("content-length")).toBe(String(end - start));
  expect(await response.bytes()).toEqual(bytes.slice(start, end));
  expect(s3.ranges).toEqual([`bytes=${start}-${end - 1}`]);
});

test("HEAD and a known ETag read nothing from storage", async () => {
  const head = await fetchLink({}, "HEAD");
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(SIZE)]);
  const etag = head.headers.get("etag")!;
  const known = await fetchLink({ "if-none-match": `"other", W/${etag}` });
  expect([known.status, await known.text()]).toEqual([304, ""]);
  expect(s3.requests.every((request) => request.startsWith("HEAD "))).toBe(true);
  const changed = await fetchLink({ range: "bytes=0-9", "if-range": '"other"' });
  expect(changed.status).toBe(200);
  await changed.body?.cancel();
});

test("readers that stall hold little memory and are disconnected", async () => {
  await (await fetchLink()).bytes();
  const before = gateway.resources();
  s3.ranges.length = 0;
  const { pathname, search } = new URL(link);
  const bytesToSend = writeRequest({ method: "GET", path: pathname + search });
  for (let number = 0; number < READERS; number += 1) {
    const socket = await openSocket(gateway.url);
    socket.pause();
    socket.write(bytesToSend);
  }
  await until("every reader's first piece", () => s3.ranges.length >= READERS || undefined);
  const isClosed = () => gateway.resources().descriptors <= before.descriptors + 2 || undefined;
  let residentMb = 0;
  await until(
    "the readers to be disconnected",
    () => {
      residentMb = Math.max(residentMb, gateway.resources().residentMb);
      return isClosed();
    },
    25_000,
  );
  // Socket buffers need some megabytes. Whole objects would need 240 MB.
  expect(residentMb - before.residentMb).toBeLessThan(120);
  expect(s3.ranges.length * PIECE).toBeLessThan((READERS * SIZE) / 2);
});

test("storage that fails during a download cuts it off, and the gateway serves on", async () => {
  const response = await fetchLink();
  const reader = response.body!.getReader();
  await reader.read();
  s3.setDown(true);
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toThrow();
  s3.setDown(false);
  await until(
    "the storage",
    async () => (await fetchLink({ range: "bytes=0-9" })).status === 206 || undefined,
  );
});

test("a result in object storage serves as a reference", async () => {
  const image = await makePicture();
  const body = { model: "sandbox-a", prompt: "the same at night", quality: "low", image };
  expect((await gateway.call("/v1/images/edits", { body })).status).toBe(200);
});

test("posted entries are files for a warehouse, and a metric says how far", async () => {
  await gateway.stop();
  await gateway.restart();
  const name = await until("a file", async () => s3.objects.keys().find((key) => key.startsWith("ledger/")));
  expect(name).toMatch(/^ledger\/ledger-\d+-\d+-\d+-\d+\.parquet$/);
  const rows = await parquetReadObjects({ file: s3.objects.get(name)!.bytes.buffer });
  const charges = await gateway.ledger();
  expect(rows.map(({ id }) => id)).toEqual(charges.map(({ id }) => id));
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const [, lag] = /^gateway_ledger_export_lag_seconds (\S+)$/m.exec(metrics) ?? [];
  expect(Number(lag)).toBeLessThan(60);
  expect(metrics).toContain("\ngateway_ledger_export_failures_total 0\n");
});
