import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { formOf } from "../support/images-forms.ts";
import { gradient, makePng } from "../support/pictures.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { beginUpload } from "../support/unfinished-upload.ts";
import { readError } from "../support/vendor.ts";

/* Limits on the disk space of uploads. A key may use a quarter of `spool_mib`, here 16 MiB. */

const MIB = 1024 * 1024;
const EDITS = "/v1/images/edits";
const PNG = makePng(64, 64, { pixel: gradient });

let gateway: TestGateway;
let otherKey: string;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: "server: { spool_mib: 64 }" });
  otherKey = /gk_\w+/.exec(await gateway.cli("keys", "create", "--name", "other"))?.[0] ?? "";
  await until("the key to be known", async () => {
    const headers = { authorization: `Bearer ${otherKey}` };
    return (await gateway.call("/v1/models", { headers })).status === 200 ? true : undefined;
  });
});

afterAll(() => gateway[Symbol.asyncDispose]());

test("a small compressed form that unfolds beyond its key's part is refused and leaves nothing", async () => {
  const refused = await sendPacked(gateway.key, 20);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).not.toBeNull();
  expect((await readError(refused)).code).toBe("rate_limit_exceeded");
  expect(spooledFiles()).toEqual([]);
  expect((await sendPacked(gateway.key, 12)).status).toBe(400);
});

test("an upload that declares more than its key's part is refused before it is read", async () => {
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    "content-type": "multipart/form-data; boundary=b",
    "content-length": String(20 * MIB),
  };
  const upload = await beginUpload(gateway.url, EDITS, headers);
  expect(await upload.response()).toStartWith("HTTP/1.1 429");
  upload.socket.destroy();
});

test("unfinished uploads count until they end, for their own key only", async () => {
  const packed = formBytes(12);
  const authorization = `Bearer ${gateway.key}`;
  const headers = { authorization, "content-type": packed.type, "content-length": String(13 * MIB) };
  const upload = await beginUpload(gateway.url, EDITS, headers);
  await upload.write(packed.bytes.subarray(0, 12 * MIB - 1));
  await until("a refusal", async () =>
    (await sendPacked(gateway.key, 8)).status === 429 ? true : undefined,
  );
  expect((await sendPacked(otherKey, 8)).status).toBe(400);
  upload.socket.destroy();
  await until("the disk space to come back", async () =>
    (await sendPacked(gateway.key, 8)).status === 400 ? true : undefined,
  );
});

test("an upload leaves the reserve of the disk alone, and chat goes on", async () => {
  const yaml = "overload: { free_disk_mib: { large_bodies: 1000000000, requests: 0 } }";
  await using full = await startTestGateway({ yaml });
  const fields = [
    ["model", "sandbox-a"],
    ["prompt", "a cat"],
    ["image", PNG],
  ] as const;
  const refused = await full.call(EDITS, { body: formOf(fields) });
  expect(refused.status).toBe(503);
  expect((await readError(refused)).code).toBe("overloaded");
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] };
  expect((await full.call("/v1/chat/completions", { body })).status).toBe(200);
}, 20_000);

test("unknown fields of a form are skipped unread and named in a header", async () => {
  await using gateway = await startTestGateway();
  const known = [
    ["model", "sandbox-a"],
    ["prompt", "a cat"],
    ["image", PNG],
  ] as const;
  const edit = (fields: readonly (readonly [string, string | Uint8Array])[]) =>
    gateway.call(EDITS, { body: formOf([...known, ...fields]) });
  expect((await edit([])).status).toBe(200);
  const { peakMb } = gateway.resources();
  const text = "x".repeat(34 * MIB);
  const response = await edit(Array.from({ length: 6 }, (_, index) => [`unknown_${index}`, text]));
  expect(response.status).toBe(200);
  expect(response.headers.get("x-gateway-ignored-params")).toStartWith("unknown_0, unknown_1");
  expect(gateway.resources().peakMb / peakMb).toBeLessThan(1.5);
}, 20_000);

test("a long text of an unknown field of JSON is not read into memory, one of a known field is refused", async () => {
  const generate = (fields: object) =>
    gateway.call("/v1/images/generations", { body: { model: "sandbox-a", prompt: "a cat", ...fields } });
  expect((await generate({ unknown: "x".repeat(2 * MIB) })).status).toBe(200);
  const refused = await generate({ prompt: "x".repeat(2 * MIB) });
  expect(await readError(refused)).toMatchObject({ code: "invalid_parameter", param: "prompt" });
});

/** Returns a form with one file of this size. */
function formBytes(mib: number): { bytes: Buffer; type: string } {
  const head = '--b\r\ncontent-disposition: form-data; name="image"; filename="f"\r\n\r\n';
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(mib * MIB), Buffer.from("\r\n--b--\r\n")]);
  return { bytes, type: "multipart/form-data; boundary=b" };
}

function sendPacked(key: string, mib: number): Promise<Response> {
  const { bytes, type } = formBytes(mib);
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": type,
    "content-encoding": "gzip",
  };
  return gateway.call(EDITS, { headers, body: new Uint8Array(gzipSync(bytes)) });
}

function spooledFiles(): string[] {
  return readdirSync(join(gateway.dataDirectory, "spool")).filter((name) => name.startsWith("spool-"));
}
