import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { isObject } from "../../src/lib/json.ts";
import { nativeReply } from "../support/native-schema.ts";
import { BUDGET, LEVEL, openNativeText, type NativeTextFixture } from "../support/native-text.ts";

/* Text on the native protocol. Bytes and headers are compared exactly. */
let fixture: NativeTextFixture;
const keys: Record<string, string> = {};

beforeAll(async () => {
  fixture = await openNativeText();
  for (const scope of ["ai:llm", "ai:image"]) {
    const output = await fixture.gateway.cli(
      "keys",
      "create",
      "--name",
      scope,
      "--org",
      "default",
      "--scope",
      scope,
    );
    keys[scope] = /gk_\w+/.exec(output)![0];
  }
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.vendor.reset());

const BODY = { contents: [{ parts: [{ text: "a harbour" }] }] };
const call = (path: string, body: object | string = BODY, headers: Record<string, string> = {}) =>
  fixture.gateway.call(path, { body, headers: { "content-type": "application/json", ...headers } });
const path = (method: string, model = LEVEL) => `/v1beta/models/${model}:${method}`;

async function reasonOf(response: Response): Promise<[number, unknown]> {
  const body: unknown = await response.json();
  const error = isObject(body) ? body["error"] : undefined;
  const details: unknown = isObject(error) ? error["details"] : undefined;
  const found = Array.isArray(details)
    ? details.find((each) => isObject(each) && "reason" in each)
    : undefined;
  return [response.status, isObject(found) ? found["reason"] : undefined];
}

describe("a vendor of the protocol", () => {
  test("gets the caller's bytes, and the caller its bytes but for the model's name", async () => {
    const raw =
      '{ "contents":[{"role":"user","parts":[{"text":"caf\\u00e9 \u{1F30A} \\/"}]}],"generationConfig" : {"temperature":1.0,"seed":7, "topK":40}}';
    const text = 'Ünï \u{1F30A} "quotes" \\ / 9007199254740993';
    fixture.vendor.next({ text });
    const response = await call(path("generateContent"), raw);
    const reply = await response.text();
    expect(fixture.vendor.hits[0]!.body.toString()).toBe(raw);
    expect(reply).toContain(JSON.stringify(text));
    expect(reply).toContain(`"modelVersion":"${LEVEL}"`);
    expect(reply).not.toContain("gemini");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-gateway-request-id")).toBe(response.headers.get("x-request-id"));
  });

  test.each(["one-byte", "crlf", "comments", "no-space", "gzip", "json-for-stream"])(
    "may send a stream as %s",
    async (fault) => {
      const plain = await (await call(`${path("streamGenerateContent")}?alt=sse`)).text();
      const marked = { contents: [{ parts: [{ text: `a harbour [[${fault}]]` }] }] };
      const response = await call(`${path("streamGenerateContent")}?alt=sse`, marked);
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const text = await response.text();
      expect(textOf(eventsOf(text))).toBe(textOf(eventsOf(plain)));
      expect(text).not.toMatch(/^:|\[DONE\]/m);
    },
  );
});

const eventsOf = (stream: string): unknown[] =>
  stream
    .replaceAll("\r\n", "\n")
    .split("\n\n")
    .filter((frame) => frame.trim() !== "")
    .map((frame) => {
      if (!/^data: ?\{[^\n]*$/.test(frame)) throw new Error(`not one line of data: ${frame}`);
      return JSON.parse(frame.slice(5));
    });

const textOf = (events: unknown): string =>
  (events as { candidates?: { content?: { parts?: { text?: string }[] } }[] }[])
    .map(({ candidates }) => candidates?.[0]?.content?.parts?.map(({ text = "" }) => text).join("") ?? "")
    .join("");

describe.each([LEVEL, "sandbox-chat"])("replies of %s have the published form:", (model) => {
  const tools = [{ functionDeclarations: [{ name: "look", parameters: { type: "OBJECT" } }] }];
  test.each<[string, object]>([
    ["text", BODY],
    ["text that is cut", { ...BODY, generationConfig: { maxOutputTokens: 33 } }],
    ["a call", { ...BODY, tools }],
    ["thoughts", { ...BODY, generationConfig: { thinkingConfig: { includeThoughts: true } } }],
  ])("%s", async (_, body) => {
    const whole: unknown = await (await call(path("generateContent", model), body)).json();
    const stream = await (await call(`${path("streamGenerateContent", model)}?alt=sse`, body)).text();
    for (const reply of [whole, ...eventsOf(stream)]) {
      expect(nativeReply.safeParse(reply).error?.message).toBeUndefined();
      expect(nativeReply.parse(reply).modelVersion).toBe(model);
    }
  });
});

describe("a stream without `alt=sse`", () => {
  test("is one JSON array of the same replies", async () => {
    const events = eventsOf(await (await call(`${path("streamGenerateContent")}?alt=sse`)).text());
    const response = await call(path("streamGenerateContent"));
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(events);
  });

  test("ends with the error that cut it", async () => {
    const text = "a harbour [[error-frame-later after=1 frameDelayMs=50]]";
    const response = await call(path("streamGenerateContent", BUDGET), { contents: [{ parts: [{ text }] }] });
    const items = (await response.json()) as object[];
    expect(textOf(items.slice(0, -1))).toBe("word0 word1 ");
    expect(items.at(-1)).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
  });
});

test.each(["", "?alt=sse"])("a client that leaves a stream (%s) pays for what it got", async (query) => {
  const requestId = `left${query.length}`;
  const leaving = new AbortController();
  const text = "[[reply tokens=500 frameDelayMs=20]]";
  const response = await fetch(`${fixture.gateway.url}${path("streamGenerateContent")}${query}`, {
    method: "POST",
    signal: leaving.signal,
    body: JSON.stringify({ contents: [{ parts: [{ text }] }] }),
    headers: { authorization: `Bearer ${fixture.gateway.key}`, "x-request-id": requestId },
  });
  await response.body!.getReader().read();
  leaving.abort();
  const [row, ...others] = await fixture.gateway.charged(requestId);
  expect(others).toEqual([]);
  expect(row!.flags).toEqual(expect.arrayContaining(["caller_gone", "partial"]));
  expect(row!.consumed!.tokens!["output"]).toBeLessThan(500);
  await fixture.vendor.waitForClose();
});

describe("the model in the path", () => {
  test.each([
    ["sandbox-chat", "ai:image", [401, "authentication_required"]],
    ["sandbox-b-fast", "ai:llm", [401, "authentication_required"]],
    ["nobody", "ai:image", [400, "model_not_available_for_routing"]],
    ["nobody", "ai:llm", [400, "model_not_available_for_routing"]],
    ["sandbox-a", "ai:image", [400, "wrong_endpoint_for_model"]],
  ])("%s with the scope %s", async (model, scope, expected) => {
    const authorization = `Bearer ${keys[scope]}`;
    expect(await reasonOf(await call(path("generateContent", model), BODY, { authorization }))).toEqual(
      expected as [number, string],
    );
  });

  test("may have its kind and publisher before it", async () => {
    for (const prefix of ["models/", "publishers/google/models/"])
      expect((await call(`/v1/models/${prefix}${LEVEL}:generateContent`)).status).toBe(200);
  });

  test("decides which requests are counted in the limits of text", async () => {
    const response = await call(path("generateContent", "sandbox-chat"));
    expect(response.status).toBe(200);
    const events = fixture.gateway.logs().filter(({ route }) => route === "native.text");
    expect(events.length).toBeGreaterThan(0);
  });

  test.each(["embedNothing", "predict"])("has no method %s for pictures", async (method) => {
    expect(await reasonOf(await call(path(method, "sandbox-b-fast")))).toEqual([404, "not_found"]);
  });
});

describe("refused with the field's name, unsent:", () => {
  test.each<[string, object]>([
    ["tools[0].googleSearch", { ...BODY, tools: [{ googleSearch: {} }] }],
    ["tools[0].code_execution", { ...BODY, tools: [{ code_execution: {} }] }],
    ["cachedContent", { ...BODY, cachedContent: "cachedContents/x" }],
    ["serviceTier", { ...BODY, serviceTier: "priority" }],
    [
      "contents[0].parts[0].fileData.fileUri",
      { contents: [{ parts: [{ fileData: { mimeType: "image/png", fileUri: "gs://b/x.png" } }] }] },
    ],
  ])("%s", async (name, body) => {
    const response = await call(path("generateContent"), body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`\`${name}\``);
    expect(fixture.vendor.hits).toHaveLength(0);
  });
});

describe("the list of models", () => {
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${fixture.gateway.url}${url}`, { headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const native = () => ({ "x-goog-api-key": fixture.gateway.key });
  const bearer = () => ({ authorization: `Bearer ${fixture.gateway.key}` });

  test("has the protocol's shape at its own path, and at the shared one for its clients", async () => {
    const { body } = await get("/v1beta/models", native());
    expect(Object.keys(body)).toEqual(["models"]);
    expect((await get("/v1/models", native())).body).toEqual(body);
    expect(
      (await get("/v1/models", { ...bearer(), "x-goog-api-client": "google-genai-sdk/3" })).body,
    ).toEqual(body);
    expect((await get("/v1/models", bearer())).body["object"]).toBe("list");
    const one = await get(`/v1beta/models/${LEVEL}`, bearer());
    expect((body["models"] as { name: string }[]).find(({ name }) => name === `models/${LEVEL}`)).toEqual(
      one.body as never,
    );
  });

  test("is refused in the protocol's shape", async () => {
    expect(await get("/v1beta/models/nobody", native())).toMatchObject({
      status: 404,
      body: { error: { code: 404 } },
    });
    expect(await get("/v1/models/nobody", native())).toMatchObject({
      status: 404,
      body: { error: { code: 404 } },
    });
    expect(await get("/v1beta/models", {})).toMatchObject({
      status: 401,
      body: { error: { status: "UNAUTHENTICATED" } },
    });
    expect(await get("/v1beta/models?pageSize=x", native())).toMatchObject({ status: 400 });
  });
});
