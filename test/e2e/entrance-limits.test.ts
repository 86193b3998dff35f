import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { openSocket, writeRequest } from "../support/sockets.ts";
import { readError } from "../support/vendor.ts";

/* Limits count a request by its headers, before any byte of the body is read. Its number of images is counted later. */

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});

afterAll(() => gateway[Symbol.asyncDispose]());

test("a request for an unknown model stays counted", async () => {
  const key = await createKey("requests_per_minute=1");
  const responses = [await chat(key, { model: "unknown" }), await chat(key, { model: "unknown" })];
  expect(responses.map(({ status }) => status)).toEqual([400, 429]);
});

test("a malformed request stays counted, and the headers of the next one include it", async () => {
  const key = await createKey("requests_per_minute=5");
  expect((await chat(key, "{")).status).toBe(400);
  const served = await chat(key, { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] });
  expect(served.status).toBe(200);
  expect(served.headers.get("x-ratelimit-remaining-requests")).toBe("3");
});

test("a request over its limit is refused before its body is sent", async () => {
  const key = await createKey("requests_per_minute=1");
  await chat(key, "{");
  const headers = { authorization: `Bearer ${key}`, "content-length": "30000000" };
  expect(await refusalOf("/v1/chat/completions", headers)).toStartWith("HTTP/1.1 429");
});

test("an upload occupies a slot from its headers on, and a client that disconnects returns it", async () => {
  const key = await createKey("concurrent_images=1");
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": "30000000",
  };
  const upload = async () => {
    const socket = await openSocket(gateway.url);
    socket.write(writeRequest({ path: "/v1/images/generations", headers }));
    return socket;
  };
  let socket = await upload();
  await until("the slot to be occupied", async () => {
    if ((await image(key)).status === 429) return true;
    // If the picture request arrived first, the upload was refused and must be repeated.
    socket.destroy();
    socket = await upload();
  });
  socket.destroy();
  await until("the slot to come back", async () => ((await image(key)).status === 200 ? true : undefined));
});

test("all images of a request are counted, and a request that their limit refuses counts none", async () => {
  const key = await createKey("images_per_minute=7");
  const four = await image(key, { n: 4 });
  expect(four.headers.get("x-ratelimit-remaining-requests")).toBe("3");
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const refused = await image(key, { n: 4 });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("3");
    expect((await readError(refused)).code).toBe("rate_limit_exceeded");
  }
  expect((await image(key)).headers.get("x-ratelimit-remaining-requests")).toBe("2");
  expect((await image(key, { n: 2 })).status).toBe(200);
});

test("a request for more images than the whole limit counts none", async () => {
  const key = await createKey("images_per_minute=3");
  const refused = await image(key, { n: 4 });
  expect([refused.status, (await readError(refused)).code]).toEqual([400, "invalid_parameter"]);
  expect((await image(key, { n: 3 })).status).toBe(200);
});

test("a request that a key's limit of images refuses leaves the organization's limit to the other keys", async () => {
  await gateway.cli("orgs", "create", "--id", "pictures", "--name", "Pictures");
  await gateway.cli("orgs", "set", "pictures", "--limit", "images_per_minute=7");
  const small = await createKeyOf("pictures", "images_per_minute=4");
  const other = await createKeyOf("pictures");
  expect((await image(small, { n: 3 })).status).toBe(200);
  for (let attempt = 0; attempt < 3; attempt += 1) expect((await image(small, { n: 3 })).status).toBe(429);
  expect((await image(other, { n: 4 })).status).toBe(200);
});

test("a malformed image request keeps one image counted", async () => {
  const key = await createKey("images_per_minute=2");
  expect((await image(key, { prompt: 5 })).status).toBe(400);
  expect((await image(key)).headers.get("x-ratelimit-remaining-requests")).toBe("0");
});

test("a key without images sends no upload", async () => {
  const key = await createKey("images_per_minute=0");
  const headers = { authorization: `Bearer ${key}`, "content-length": "30000000" };
  expect(await refusalOf("/v1/images/edits", headers)).toStartWith("HTTP/1.1 429");
});

function createKey(...limits: string[]): Promise<string> {
  return createKeyOf("default", ...limits);
}

async function createKeyOf(organization: string, ...limits: string[]): Promise<string> {
  const flags = limits.flatMap((limit) => ["--limit", limit]);
  const printed = await gateway.cli("keys", "create", "--name", "trial", "--org", organization, ...flags);
  const key = /gk_\w+/.exec(printed)?.[0] ?? "";
  await until("the key to be known", async () => {
    const headers = { authorization: `Bearer ${key}` };
    return (await gateway.call("/v1/models", { headers })).status === 200 ? true : undefined;
  });
  return key;
}

function chat(key: string, body: object | string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return gateway.call("/v1/chat/completions", { headers, body });
}

function image(key: string, fields: object = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  const body = { model: "sandbox-a", prompt: "a cat", ...fields };
  return gateway.call("/v1/images/generations", { headers, body });
}

/** Sends headers without a body. Returns the beginning of the response. */
async function refusalOf(path: string, headers: Record<string, string>): Promise<string> {
  const socket = await openSocket(gateway.url);
  const response = new Promise<string>((resolve) => {
    socket.once("data", (piece: Buffer) => resolve(piece.toString("latin1")));
    socket.once("close", () => resolve(""));
  });
  socket.write(writeRequest({ path, headers }));
  try {
    return await response;
  } finally {
    socket.destroy();
  }
}
