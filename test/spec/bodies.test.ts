import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { exchange, openSocket, statusOf } from "../support/sockets.ts";
import { CHAT, IMAGE, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";
import { until } from "../support/gateway.ts";

/* Invalid request bodies on the JSON routes, and unusual bodies that must be accepted. */
const MIB = 1024 * 1024;
const ROUTES = [
  { path: "/v1/chat/completions", fields: `"model":"${CHAT}","messages":[{"role":"user","content":"hi"}]` },
  { path: "/v1/images/generations", fields: `"model":"${IMAGE}","prompt":"hi"` },
];

let fixture: GatewayFixture;
let served = 0;
beforeAll(async () => {
  fixture = await openGatewayFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

type Body = string | Uint8Array<ArrayBuffer>;
const send = (path: string, body: Body, headers: Record<string, string> = {}) =>
  fetch(`${fixture.gateway.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${fixture.gateway.key}`,
      "content-type": "application/json",
      ...headers,
    },
    body,
  });

async function expectRefusal(
  response: Response,
  status: number,
  code: string,
  param?: string,
): Promise<void> {
  expect({ status: response.status, body: await response.clone().text() }).toMatchObject({ status });
  expect(response.headers.get("x-gateway-request-id")).toMatch(/^[\w.:-]{1,128}$/);
  const body = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(body)).toEqual(["error"]);
  expect(body.error["code"]).toBe(code);
  expect(body.error["message"]).toEqual(expect.any(String));
  expect(Object.hasOwn(body.error, "param")).toBe(true);
  if (param !== undefined) expect(body.error["param"]).toBe(param);
  const isImage = Object.hasOwn(body.error, "request_id");
  expect(body.error["type"]).toBe(isImage ? "bad_request" : "invalid_request_error");
}

async function expectResponse(response: Response): Promise<void> {
  expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 });
  served++;
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe.each(ROUTES)("$path", ({ path, fields }) => {
  const complete = `{${fields}}`;

  test.each<[string, Body]>([
    ["J1 nothing", ""],
    ["J1 spaces", "  \n "],
    ["J2 null", "null"],
    ["J3 a list", "[]"],
    ["J4 a string", '"x"'],
    ["J5 a number", "1"],
    ["J6 half an object", `{${fields}`],
    ["J6 an open brace", "{"],
    ["J7 something after the end", `${complete}x`],
    ["J7 two objects", complete + complete],
    ["J8 single quotes", "{'a':1}"],
    ["J9 NaN", `{${fields},"seed":NaN}`],
    ["J10 a comment", `{${fields}/* */}`],
    ["J10 a trailing comma", `{${fields},}`],
    ["J12 UTF-16", new Uint8Array(Buffer.from(complete, "utf16le"))],
    [
      "J13 bytes that are no UTF-8",
      new Uint8Array(
        Buffer.concat([Buffer.from(`{${fields},"user":"`), Buffer.of(0xff, 0xfe), Buffer.from('"}')]),
      ),
    ],
    [
      "J13 a surrogate in UTF-8",
      new Uint8Array(
        Buffer.concat([Buffer.from(`{${fields},"user":"`), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')]),
      ),
    ],
    ["J14 129 levels", `{${fields},"metadata":${nested(128)}}`],
    ["J15 a million levels", `{${fields},"metadata":${nested(1_000_000)}}`],
    ["J18 the model twice", `{"model":"${CHAT}",${fields}}`],
    ["J18 the model twice, once escaped", `{"\\u006dodel":"sandbox-chat",${fields}}`],
    ["J19 another field twice", `{${fields},"n":1,"n":4}`],
    ["a form", "model=x&messages=y"],
    ["a control character in a string", `{${fields},"user":"a\u0001b"}`],
  ])("%s is an invalid body", async (_, body) => {
    await expectRefusal(await send(path, body), 400, "invalid_request_body");
  });

  test("what is no JSON is told in the same words everywhere", async () => {
    expect(await (await send(path, "{bad")).text()).toContain("The request body is not valid JSON in UTF-8.");
  });

  test.each<[string, Body]>([
    ["an empty object", "{}"],
    ["J27 the field in capitals", complete.replace('"model"', '"Model"')],
    ["J27 the field with a NUL", complete.replace('"model"', '"model\\u0000"')],
    ["a null model", complete.replace(/"model":"[^"]+"/, '"model":null')],
    ["an empty model", complete.replace(/"model":"[^"]+"/, '"model":""')],
    ["a number", complete.replace(/"model":"[^"]+"/, '"model":5')],
  ])("%s has no model", async (_, body) => {
    await expectRefusal(await send(path, body), 400, "model_required", "model");
  });

  test.each(["__proto__", "constructor", "toString", "../../etc/passwd", "x".repeat(10_000)])(
    "the model %p does not exist",
    async (model) => {
      const body = complete.replace(/"model":"[^"]+"/, `"model":${JSON.stringify(model)}`);
      await expectRefusal(await send(path, body), 400, "model_not_available_for_routing", "model");
    },
  );

  test("a model of the other interface is refused", async () => {
    const other = path.includes("chat") ? IMAGE : CHAT;
    const body = complete.replace(/"model":"[^"]+"/, `"model":"${other}"`);
    await expectRefusal(await send(path, body), 400, "wrong_endpoint_for_model", "model");
  });

  test.each([
    "text/plain",
    "application/xml",
    "application/json; charset=utf-16",
    "application/json;charset=latin1",
    "application/jsonp",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "image/png",
  ])("J24 content type %p is 415 with the accepted type", async (type) => {
    const response = await send(path, complete, { "content-type": type });
    expect(await response.clone().text()).toMatch(/application\/json|UTF-8/);
    await expectRefusal(response, 415, "unsupported_media_type");
  });

  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json\t; charset=utf8",
  ])("content type %p is JSON", async (type) => {
    await expectResponse(await send(path, complete, { "content-type": type }));
  });

  test("no content type at all is JSON", async () => {
    const head = [
      `POST ${path} HTTP/1.1`,
      "host: gateway.test",
      `authorization: Bearer ${fixture.gateway.key}`,
      `content-length: ${complete.length}`,
    ];
    expect(
      statusOf(await exchange(fixture.gateway.url, `${head.join("\r\n")}\r\n\r\n${complete}`, 5_000)),
    ).toBe(200);
    served++;
  });

  test.each<[string, (text: string) => Uint8Array]>([
    ["gzip", gzipSync],
    ["GZIP", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["identity", (text) => Buffer.from(text)],
  ])("a body in %s is decoded", async (encoding, encode) => {
    await expectResponse(
      await send(path, new Uint8Array(encode(complete)), { "content-encoding": encoding }),
    );
  });

  test("an unknown encoding, or several at once, is 415", async () => {
    for (const encoding of ["compress", "gzip, gzip", "__proto__", "aes128gcm"]) {
      const response = await send(path, new Uint8Array(gzipSync(complete)), { "content-encoding": encoding });
      await expectRefusal(response, 415, "unsupported_media_type");
    }
  });

  test("a body that does not match its encoding is an invalid body", async () => {
    const packed = new Uint8Array(gzipSync(complete));
    for (const [encoding, body] of [
      ["gzip", complete],
      ["gzip", packed.subarray(0, packed.length - 12)],
      ["br", packed],
      ["zstd", packed],
    ] as const) {
      await expectRefusal(
        await send(path, body, { "content-encoding": encoding }),
        400,
        "invalid_request_body",
      );
    }
  });

  test("a declared length over the cap is 413 before a byte of it is read", async () => {
    const most = path.includes("chat") ? 32 * MIB : 800 * MIB;
    const head = [
      `POST ${path} HTTP/1.1`,
      "host: gateway.test",
      `authorization: Bearer ${fixture.gateway.key}`,
      "content-type: application/json",
      `content-length: ${most + 1}`,
    ];
    const response = await exchange(fixture.gateway.url, `${head.join("\r\n")}\r\n\r\n{`, 3_000);
    expect(statusOf(response)).toBe(413);
    expect(response).toContain('"code":"payload_too_large"');
  });

  test.each<[string, string]>([
    ["J11 a byte order mark", `\uFEFF${complete}`],
    ["J14 120 levels", `{${fields},"metadata":${nested(120)}}`],
    ["a nested field twice", `{${fields},"metadata":{"a":1,"a":2}}`],
    ["white space everywhere", `\n\t { ${fields} } \r\n`],
  ])("%s is accepted", async (name, body) => {
    // The simulated vendor refuses invalid fields like the real vendor. The test only requires that the vendor is
    // reached.
    const already = fixture.vendor.hits.length;
    const response = await send(path, body);
    expect([name, response.status]).not.toEqual([name, 413]);
    expect(fixture.vendor.hits.length).toBe(already + 1);
    if (response.status === 200) served++;
  });
});

describe("chat", () => {
  const path = "/v1/chat/completions";
  const start = `"model":"${CHAT}","messages":[{"role":"user","content":"hi"}]`;

  test.each([
    ["stream", '"true"'],
    ["stream", "1"],
    ["max_tokens", '"5"'],
    ["max_tokens", "0"],
    ["max_tokens", "-1"],
    ["max_tokens", "1.5"],
    ["max_tokens", "1e400"],
    ["max_completion_tokens", "0"],
    ["n", "0"],
    ["n", "18446744073686646784"],
    ["temperature", '"hot"'],
    ["top_p", "[]"],
    ["stop", "5"],
    ["stop", "[1]"],
    ["tools", "{}"],
    ["tool_choice", "1"],
    ["response_format", '"json"'],
    ["reasoning_effort", "3"],
    ["stream_options", "true"],
  ])("J26 %s of %s is 400 with the field's name", async (name, value) => {
    await expectRefusal(await send(path, `{${start},"${name}":${value}}`), 400, "invalid_parameter", name);
  });

  test.each(['"hi"', "[]", "{}", "null", "[1]", '[{"content":"no role"}]', '[{"role":5}]'])(
    "messages of %s are 400",
    async (messages) => {
      const body = `{"model":"${CHAT}","messages":${messages}}`;
      await expectRefusal(await send(path, body), 400, "invalid_parameter", "messages");
    },
  );

  test.each([
    ["a body field", path, '"provider":"x"', {}],
    ["a null body field", path, '"provider":null', {}],
    ["a header", path, '"seed":1', { "x-provider": "x" }],
    ["a query parameter", `${path}?provider=x`, '"seed":1', {}],
    ["an empty query parameter", `${path}?a=b&provider`, '"seed":1', {}],
  ])("the provider as %s is refused", async (_, target, field, headers) => {
    const response = await send(target, `{${start},${field}}`, headers as Record<string, string>);
    await expectRefusal(response, 400, "provider_not_allowed", "provider");
  });

  test("J20 names of the object's prototype are forwarded as fields and pollute nothing", async () => {
    fixture.vendor.reset();
    const field = '"__proto__":{"isAdmin":true}';
    await send(path, `{${start},${field},"constructor":{"prototype":{"isAdmin":true}}}`);
    expect(fixture.vendor.hits[0]!.body.toString()).toContain(field);
    expect((await send(path, `{${start}}`)).status).toBe(200);
    served++;
  });

  test("a chunked body over the cap is 413 as soon as the cap is passed", async () => {
    const socket = await openSocket(fixture.gateway.url);
    const pieces: string[] = [];
    socket.on("data", (piece: Buffer) => pieces.push(piece.toString("latin1")));
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${fixture.gateway.key}\r\n` +
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    const piece = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(MIB, 0x20), Buffer.from("\r\n")]);
    // The body never ends, so a refusal can only be based on the bytes that have arrived.
    for (let sent = 0; sent < 32; sent++) socket.write(piece);
    await Bun.sleep(500);
    expect(pieces).toEqual([]);
    socket.write(piece);
    await until("the refusal", () => (pieces.join("").includes("payload_too_large") ? true : undefined));
    expect(statusOf(pieces.join(""))).toBe(413);
    socket.destroy();
  });

  test("a small body that decodes to more than the cap is 413 and takes no memory", async () => {
    const before = fixture.gateway.resources().residentMb;
    for (const [encoding, encode] of [
      ["gzip", (bytes: Buffer) => gzipSync(bytes, { level: 1 })],
      [
        "br",
        (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
      ],
      ["zstd", zstdCompressSync],
    ] as const) {
      const bomb = new Uint8Array(encode(Buffer.alloc(768 * MIB, 0x20)));
      await expectRefusal(await send(path, bomb, { "content-encoding": encoding }), 413, "payload_too_large");
    }
    console.log(`bombs: memory ${before} → ${fixture.gateway.resources().residentMb} MB`);
    expect(fixture.gateway.resources().residentMb - before).toBeLessThan(400);
  }, 20_000);

  test.each([
    ["J16 a million fields", 3_000, () => `{${start},${manyFields(1_000_000, (at) => `k${at}`)}}`],
    ["J17 eight million empty objects", 1_000, () => `{${start},"metadata":[${"{},".repeat(8_000_000)}{}]}`],
    [
      "J28 200,000 fields that look like numbers",
      3_000,
      () => `{${start},${manyFields(200_000, (at) => `${at * 65_536}`)}}`,
    ],
  ] as const)(
    "%s do not delay other requests by %d ms",
    async (name, mostMs, body) => {
      let longestMs = 0;
      const text = body();
      const end = new AbortController();
      const others = (async () => {
        while (!end.signal.aborted) {
          const startedAt = performance.now();
          await fetch(`${fixture.gateway.url}/healthz`);
          longestMs = Math.max(longestMs, performance.now() - startedAt);
          await Bun.sleep(5);
        }
      })();
      const response = await send(path, text);
      end.abort();
      await others;
      console.log(`${name}: ${response.status}, others waited ${Math.round(longestMs)} ms at most`);
      expect([200, 400, 413]).toContain(response.status);
      if (response.status === 200) served++;
      expect(longestMs).toBeLessThan(mostMs);
    },
    20_000,
  );

  test("deflate is also accepted without the zlib header", async () => {
    const response = await send(path, new Uint8Array(deflateRawSync(`{${start}}`)), {
      "content-encoding": "deflate",
    });
    expect([200, 400]).toContain(response.status);
    if (response.status === 200) served++;
  });
});

test("only served requests are in the ledger", async () => {
  const rows = await until("all charges", async () => {
    const found = await fixture.gateway.ledger();
    return found.length >= served ? found : undefined;
  });
  expect(rows).toHaveLength(served);
});

function manyFields(count: number, name: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => `"${name(at)}":1`).join(",");
}
