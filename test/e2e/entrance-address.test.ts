import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { beginUpload, type UnfinishedUpload } from "../support/unfinished-upload.ts";

/* Unfinished bodies from one client address that uses keys of several organizations. */

const MIB = 1024 * 1024;
const BODY_MIB = 31;
/** Number of these bodies that a key may send concurrently. */
const PER_KEY = 4;

let gateway: TestGateway;
const keys: string[] = [];
const uploads: UnfinishedUpload[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: "server: { trusted_proxies: [127.0.0.1] }" });
  for (const organization of ["one", "two", "three"]) {
    await gateway.cli("orgs", "create", "--id", organization, "--name", organization);
    for (const name of ["first", "second"]) {
      const made = await gateway.cli("keys", "create", "--org", organization, "--name", name, "--json");
      keys.push(JSON.parse(made).secret);
    }
  }
  const isKnown = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await gateway.call("/v1/models", { headers })).status === 200;
  };
  await until("the keys", async () => (await Promise.all(keys.map(isKnown))).every(Boolean) || undefined);
});

afterAll(async () => {
  for (const { socket } of uploads) socket.destroy();
  await gateway[Symbol.asyncDispose]();
});

async function begin(key: string, address: string): Promise<UnfinishedUpload> {
  const upload = await beginUpload(gateway.url, "/v1/chat/completions", {
    authorization: `Bearer ${key}`,
    "x-forwarded-for": address,
    "content-length": String(BODY_MIB * MIB),
  });
  uploads.push(upload);
  return upload;
}

test("the bodies of one address are bounded whatever keys it has, and other addresses go on", async () => {
  for (const key of keys.slice(0, 3))
    for (let count = 0; count < PER_KEY; count += 1) await begin(key, "192.0.2.1");
  // The address now uses 372 of its 384 MiB. The limits of this key and its organization allow more.
  const refused = await until("a refusal", async () => {
    const response = await (await begin(keys[4]!, "192.0.2.1")).response();
    return response === "" ? undefined : response;
  });
  expect(refused).toStartWith("HTTP/1.1 429");
  expect(refused).toContain("Your address uses too much memory");
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "x".repeat(13 * MIB) }] };
  const send = async (address: string) => {
    const headers = { authorization: `Bearer ${keys[5]}`, "x-forwarded-for": address };
    return (await gateway.call("/v1/chat/completions", { body, headers })).status;
  };
  expect([await send("192.0.2.1"), await send("192.0.2.2")]).toEqual([429, 200]);
}, 20_000);
