import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { until } from "../support/gateway.ts";
import {
  FAST,
  FREE,
  LITE,
  NANOS,
  openNativeFixture,
  PRO,
  type NativeFixture,
} from "../support/native-gateway.ts";
import { makeBmp, makePng } from "../support/pictures.ts";

/*
 * The native generate protocol. The vendor `free` accepts everything and sends the configured response, so both
 * directions can be compared field by field.
 */
let fixture: NativeFixture;

beforeAll(async () => {
  fixture = await openNativeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => {
  fixture.strict.reset();
  fixture.free.reset();
  fixture.answerAsConfigured(replyOf([{ inlineData: { mimeType: "image/png", data: PNG } }]));
});

const PNG = makePng(64, 48).toString("base64");
const INLINE = { inlineData: { mimeType: "image/png", data: PNG } };
const TEXT = { text: "A quiet harbour" };

interface Part {
  inlineData?: { data: string; [key: string]: unknown };
  fileData?: { fileUri: string; [key: string]: unknown };
  [key: string]: unknown;
}

interface Reply {
  candidates: { content: { role: string; parts: Part[] }; [key: string]: unknown }[];
  [key: string]: unknown;
}

function replyOf(parts: object[], more: object = {}): Reply {
  const candidate = { content: { role: "model", parts }, finishReason: "STOP", index: 0 };
  return { candidates: [candidate], modelVersion: "gemini-3.1-flash-image", ...more } as Reply;
}

function generate(model: string, body: object | string, headers: Record<string, string> = {}) {
  const type = { "content-type": "application/json" };
  return fixture.gateway.call(`/v1beta/models/${model}:generateContent`, {
    body,
    headers: { ...type, ...headers },
  });
}

const requestOf = (parts: object[], generationConfig?: object) => ({
  contents: [{ role: "user", parts }],
  ...(generationConfig && { generationConfig }),
});

/** Returns the vendor's request. Throws the text of a response that is not 200. */
async function sent(body: object): Promise<Record<string, unknown>> {
  const response = await generate(FREE, body);
  if (response.status !== 200) throw new Error(await response.text());
  await response.bytes();
  return fixture.free.hits.at(-1)!.json();
}

function hitCount(): number {
  return fixture.strict.hits.length + fixture.free.hits.length;
}

describe("a vendor with the native protocol", () => {
  test("gets the caller's body byte for byte, known fields and unknown ones", async () => {
    const body = {
      systemInstruction: { parts: [{ text: "Paint in oil." }] },
      contents: [
        { role: "user", parts: [TEXT, { ...INLINE, mediaResolution: { level: "MEDIA_RESOLUTION_HIGH" } }] },
        {
          role: "model",
          parts: [
            { thought: true, text: "Let me see", thoughtSignature: "YQ==" },
            { thought: true, inlineData: { mimeType: "image/png", data: PNG } },
            { ...INLINE, thoughtSignature: "Yg==", "x-new": null },
          ],
        },
        { parts: [{ text: "Bluer" }, {}] },
      ],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      tools: [{ functionDeclarations: [{ name: "look" }] }],
      generationConfig: {
        seed: 7,
        temperature: 0.5,
        candidateCount: 1,
        responseModalities: ["TEXT", "IMAGE"],
        thinkingConfig: { includeThoughts: true },
        imageConfig: { aspectRatio: "16:9", imageSize: "2K", somethingNew: [1, { deep: "ü€" }] },
      },
      labels: { __proto__x: "a" },
      cachedContent: null,
    };
    const response = await generate(FREE, body);
    await response.bytes();
    expect(response.status).toBe(200);
    expect(fixture.free.hits[0]!.body.toString()).toBe(JSON.stringify(body));
    expect(fixture.free.hits[0]!.path).toBe("/v1beta/models/gemini-3.1-flash-image:generateContent");
  });

  test("gets snake-case names unchanged", async () => {
    const body = {
      contents: [{ role: "user", parts: [TEXT, { inline_data: { mime_type: "image/png", data: PNG } }] }],
      generation_config: { image_config: { aspect_ratio: "1:1", image_size: "4K" }, candidate_count: 1 },
    };
    expect(await sent(body)).toEqual(body);
  });

  test("gets large pictures, signatures and texts unchanged from disk", async () => {
    const noise = Buffer.concat(
      Array.from({ length: 40 }, () => crypto.getRandomValues(new Uint8Array(65_536))),
    );
    const data = Buffer.concat([makePng(64, 64), noise]).toString("base64");
    const signature = noise.subarray(0, 200_000).toString("base64url");
    const body = {
      contents: [
        { role: "user", parts: [{ text: `A "harbour"\n${"€𝄞".repeat(40_000)}` }] },
        {
          role: "model",
          parts: [{ inlineData: { mimeType: "image/png", data }, thoughtSignature: signature }],
        },
        { role: "user", parts: [{ text: "Bluer" }] },
      ],
    };
    expect(await sent(body)).toEqual(body);
  });

  test("does not get the public name of the model in the body", async () => {
    expect(await sent({ model: `models/${FREE}`, ...requestOf([TEXT]) })).toEqual(requestOf([TEXT]));
  });

  test.each([
    ["a tier in lower case in the vendor's letters", { imageSize: "2k" }, { imageSize: "2K" }],
    ["a tier it lacks as its nearest", { imageSize: "512" }, { imageSize: "1K" }],
    ["a shape it lacks as its nearest", { aspectRatio: "2:1" }, { aspectRatio: "16:9" }],
    ["no shape for a word that is none", { aspectRatio: "wide", imageSize: "4K" }, { imageSize: "4K" }],
    ["no tier where none was said", { aspectRatio: "9:16" }, { aspectRatio: "9:16" }],
    ["pixels as its usual tier", { imageSize: "4096x4096" }, { imageSize: "1K" }],
    ["what stands beside them untouched", { imageSize: "4k", more: 1 }, { imageSize: "4K", more: 1 }],
  ])("gets %s", async (_, imageConfig, expected) => {
    expect(await sent(requestOf([TEXT], { imageConfig }))).toEqual(
      requestOf([TEXT], { imageConfig: expected }),
    );
  });

  test("gets the true type of a picture that was declared as another", async () => {
    const body = requestOf([TEXT, { inlineData: { mimeType: "image/jpeg", data: PNG } }]);
    expect(await sent(body)).toEqual(requestOf([TEXT, INLINE]));
  });

  test("gets an unreadable format converted", async () => {
    const data = makeBmp(20, 10).toString("base64");
    const { contents } = await sent(
      requestOf([TEXT, { inlineData: { mimeType: "image/bmp", data }, note: 1 }]),
    );
    const part = (contents as { parts: Part[] }[])[0]!.parts[1]!;
    expect(part).toEqual({ inlineData: { mimeType: "image/png", data: expect.any(String) }, note: 1 });
    const header = await readImageHeader(new Blob([Buffer.from(part.inlineData!.data, "base64")]));
    expect(header).toMatchObject({ format: "png", width: 20, height: 10 });
  });

  test("gets the bytes behind a link, and all other fields of the part", async () => {
    const made = await fixture.gateway.call("/v1/images/generations", {
      body: { model: "sandbox-b-lite", prompt: "A fox" },
    });
    const { data } = (await made.json()) as { data: { url: string }[] };
    const file = await (await fetch(data[0]!.url)).bytes();
    const link = { fileData: { fileUri: data[0]!.url, mimeType: "image/png" }, thoughtSignature: "YQ==" };
    expect(await sent(requestOf([link, TEXT]))).toEqual(
      requestOf([
        {
          inlineData: { mimeType: "image/png", data: Buffer.from(file).toString("base64") },
          thoughtSignature: "YQ==",
        },
        TEXT,
      ]),
    );
  });

  test("gets a compressed body decoded", async () => {
    const response = await fixture.gateway.call(`/v1/models/${FREE}:generateContent`, {
      body: gzipSync(JSON.stringify(requestOf([TEXT]))),
      headers: { "content-encoding": "gzip" },
    });
    expect(response.status).toBe(200);
    expect(fixture.free.hits[0]!.json()).toEqual(requestOf([TEXT]));
  });
});

describe("a vendor's reply", () => {
  const signature = Buffer.alloc(90_000, 7).toString("base64");
  const large = Buffer.concat([makePng(64, 64), Buffer.alloc(300_000, 5)]).toString("base64");
  const reply = () =>
    replyOf(
      [
        { text: "Thinking", thought: true, thoughtSignature: "YQ==" },
        { thought: true, inlineData: { mimeType: "image/png", data: PNG } },
        { text: "Here you are." },
        {
          inlineData: { mimeType: "image/png", data: large },
          thoughtSignature: signature,
          extra: { a: [1] },
        },
      ],
      {
        promptFeedback: { safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "LOW" }] },
        usageMetadata: {
          promptTokenCount: 4,
          candidatesTokenCount: 1120,
          totalTokenCount: 1124,
          trafficType: "X",
        },
        responseId: "vendor-response-1",
        somethingNew: { a: null },
      },
    );

  test("is forwarded field by field, except the model's name", async () => {
    fixture.answerAsConfigured(reply());
    const response = await generate(FREE, requestOf([TEXT]));
    expect(await response.json()).toEqual({ ...reply(), modelVersion: FREE });
    expect(response.headers.get("x-gateway-generated-images")).toBe("1");
    expect(response.headers.has("x-image-count-degraded")).toBe(false);
  });

  test("loses surplus pictures, which are not billed", async () => {
    fixture.answerAsConfigured(replyOf([INLINE, { text: "and" }, INLINE]));
    const response = await generate(FREE, requestOf([TEXT]), { "x-request-id": "native-surplus" });
    expect(((await response.json()) as Reply).candidates[0]!.content.parts).toEqual([
      INLINE,
      { text: "and" },
    ]);
    const [row] = await fixture.gateway.charged("native-surplus");
    expect([row!.amount, row!.consumed!.count]).toEqual([NANOS["1K"], 1]);
  });

  test("of an unknown form is forwarded as far as possible", async () => {
    const odd = { candidates: [null, {}, { content: 5 }, { content: { parts: [null, INLINE, "x"] } }] };
    fixture.answerAsConfigured(odd);
    const response = await generate(FREE, requestOf([TEXT]));
    expect(await response.json()).toEqual({ ...odd, modelVersion: FREE });
  });

  test.each([
    ["nothing", {}],
    ["too many levels", { ...replyOf([INLINE]), a: JSON.parse("[".repeat(2_000) + "]".repeat(2_000)) }],
    ["no picture", replyOf([{ text: "No." }])],
  ])("with %s is an error of the gateway", async (_, body) => {
    fixture.answerAsConfigured(body);
    const response = await generate(FREE, requestOf([TEXT]));
    expect([response.status, await response.json()]).toMatchObject([
      502,
      { error: { code: 502, status: "UNAVAILABLE", details: [{ reason: "upstream_error" }] } },
    ]);
    fixture.answerAsConfigured(replyOf([INLINE]));
  });

  test("of a vendor with another protocol is translated", async () => {
    const response = await generate("sandbox-b-fast", requestOf([TEXT]), { "x-request-id": "native-anew" });
    const { candidates, ...rest } = (await response.json()) as Reply;
    expect(candidates).toEqual([
      {
        content: {
          role: "model",
          parts: [{ inlineData: { mimeType: "image/png", data: expect.any(String) } }],
        },
        finishReason: "STOP",
        index: 0,
      },
    ]);
    expect(rest).toEqual({
      usageMetadata: {
        promptTokenCount: expect.any(Number),
        candidatesTokenCount: expect.any(Number),
        totalTokenCount: expect.any(Number),
      },
      modelVersion: "sandbox-b-fast",
      responseId: "native-anew",
    });
    for (const name of ["x-gateway-request-id", "x-request-id"])
      expect(response.headers.get(name)).toBe("native-anew");
  });
});

describe("the setting for links", () => {
  const partsNow = async (model: string) =>
    ((await (await generate(model, requestOf([TEXT]))).json()) as Reply).candidates[0]!.content.parts;

  test("replaces all pictures by links and changes nothing else", async () => {
    await fixture.gateway.cli("orgs", "set", "default", "--native-image-urls", "on");
    const part = await until("the switch to be on", async () => {
      fixture.answerAsConfigured(replyOf([{ thoughtSignature: "YQ==", ...INLINE, more: 1 }]));
      const [part] = await partsNow(FREE);
      return part!.fileData ? part : undefined;
    });
    expect(part).toEqual({
      thoughtSignature: "YQ==",
      fileData: { mimeType: "image/png", fileUri: expect.stringContaining(`${fixture.gateway.url}/files/`) },
      more: 1,
    });
    expect(await (await fetch(part.fileData!.fileUri)).bytes()).toEqual(
      new Uint8Array(Buffer.from(PNG, "base64")),
    );

    const [sandboxPart] = await partsNow("sandbox-b-lite");
    expect(Object.keys(sandboxPart!)).toEqual(["fileData"]);
    const thinking = await partsNow(PRO);
    expect(thinking.filter((part) => "inlineData" in part)).toEqual([]);
    expect(thinking.map((part) => Object.keys(part))).toEqual([
      ["thought", "text"],
      ["thought", "fileData"],
      ["text"],
      ["fileData", "thoughtSignature"],
    ]);
    const draft = await fetch(thinking[1]!.fileData!.fileUri);
    expect(await readImageHeader(await draft.blob())).toMatchObject({ width: 256, height: 256 });

    await fixture.gateway.cli(
      "orgs",
      "set",
      "default",
      "--native-image-urls",
      "off",
      "--force-image-urls",
      "on",
    );
    await until("the switch to be off", async () => (await partsNow(FREE))[0]!.inlineData);
  });
});

/** Returns the detail of an error from which official clients read its reason. */
function infoOf(reason: string): object {
  const type = "type.googleapis.com/google.rpc.ErrorInfo";
  return { "@type": type, reason, domain: "model-inference-gateway" };
}

describe("a request as the vendor's JSON allows it", () => {
  test.each([
    ["modalities in small letters", requestOf([TEXT], { responseModalities: ["image", "text"] })],
    ["a single modality", requestOf([TEXT], { responseModalities: "IMAGE" })],
    ["a count in a string", requestOf([TEXT], { candidateCount: "1" })],
    ["a single turn", { contents: { role: "user", parts: [TEXT, INLINE] } }],
    ["a single part", { contents: [{ role: "user", parts: TEXT }] }],
    ["a picture without text", requestOf([INLINE])],
  ])("with %s is served", async (_, body) => {
    expect((await generate(FREE, body)).status).toBe(200);
    expect(hitCount()).toBe(1);
  });

  test("a large picture in a single part of a single turn reaches the vendor", async () => {
    const data = makePng(300, 300, { pixel: (x, y) => [(x * y) % 251, (x * 7 + y * y) % 253, y, 255] });
    const inlineData = { mimeType: "image/png", data: data.toString("base64") };
    const response = await generate(FREE, { contents: { role: "user", parts: { inlineData } } });
    expect(response.status).toBe(200);
    expect(fixture.free.hits.at(-1)!.body.toString("latin1")).toContain(inlineData.data);
  });
});

describe("an invalid request", () => {
  const many = (count: number, part: object) =>
    requestOf([TEXT, ...Array.from({ length: count }, () => part)]);
  const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64");
  const linked = (fileUri: string) => requestOf([TEXT, { fileData: { fileUri, mimeType: "image/png" } }]);
  const corpus: [what: string, reason: string, body: object | string][] = [
    ["no contents", "invalid_parameter", {}],
    ["null contents", "invalid_parameter", { contents: null }],
    ["empty contents", "invalid_parameter", { contents: [] }],
    ["a number of contents", "invalid_parameter", { contents: 5 }],
    ["contents of text", "invalid_parameter", { contents: "A fox" }],
    ["turns of numbers", "invalid_parameter", { contents: [5] }],
    ["parts of text", "invalid_parameter", { contents: [{ parts: "A fox" }] }],
    ["a text that is a number", "invalid_parameter", requestOf([{ text: 5 }])],
    ["neither text nor picture", "prompt_required", requestOf([])],
    ["a text of spaces", "prompt_required", requestOf([{ text: "  \n" }])],
    ["no JSON", "invalid_request_body", "{"],
    ["an array", "invalid_request_body", "[]"],
    ["a field twice", "invalid_request_body", '{"contents":[],"contents":[]}'],
    ["two spellings of one field", "invalid_parameter", { ...requestOf([TEXT], {}), generation_config: {} }],
    [
      "two spellings of the size",
      "invalid_parameter",
      requestOf([TEXT], { imageConfig: { imageSize: "1K", image_size: "4K" } }),
    ],
    ["an svg", "invalid_image", requestOf([TEXT, { inlineData: { mimeType: "image/svg+xml", data: svg } }])],
    ["a pdf", "invalid_image", requestOf([TEXT, { inlineData: { mimeType: "application/pdf", data: PNG } }])],
    [
      "data that is no base64",
      "invalid_image",
      requestOf([TEXT, { inlineData: { mimeType: "image/png", data: "*" } }]),
    ],
    ["no data", "invalid_image", requestOf([TEXT, { inlineData: { mimeType: "image/png" } }])],
    [
      "data and a link at once",
      "invalid_image",
      requestOf([TEXT, { ...INLINE, fileData: { fileUri: "https://a.example/" } }]),
    ],
    ["a link to this machine", "image_url_not_allowed", linked("https://127.0.0.1/a.png")],
    ["a link to a private network", "image_url_not_allowed", linked("https://10.0.0.1/a.png")],
    ["a link to cloud metadata", "image_url_not_allowed", linked("https://169.254.169.254/latest")],
    ["a link without TLS", "image_url_not_allowed", linked("http://93.184.215.14/a.png")],
    ["a link to a bucket", "image_url_not_allowed", linked("gs://bucket/a.png")],
    ["an empty link", "invalid_image", linked("")],
    ["fifteen pictures", "too_many_reference_images", many(15, INLINE)],
    ["fifteen links", "too_many_reference_images", many(15, { fileData: { fileUri: "https://127.0.0.1/" } })],
    ["a million candidates", "invalid_parameter", requestOf([TEXT], { candidateCount: 1e6 })],
    ["two candidates as text", "invalid_parameter", requestOf([TEXT], { candidateCount: "2" })],
    ["minus one candidate", "invalid_parameter", requestOf([TEXT], { candidate_count: -1 })],
    ["text answers only", "invalid_parameter", requestOf([TEXT], { responseModalities: ["TEXT"] })],
    [
      "the other way to name a size",
      "unsupported_parameter",
      requestOf([TEXT], { responseFormat: { image: {} } }),
    ],
    ["a size that is a number", "invalid_parameter", requestOf([TEXT], { imageConfig: { imageSize: 4 } })],
    ["a config that is a list", "invalid_parameter", requestOf([TEXT], [])],
  ];

  test.each(corpus)("with %s is refused as %s before any vendor is called", async (_, reason, body) => {
    const response = await generate(FREE, body);
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([
      400,
      { code: 400, message: expect.any(String), status: "INVALID_ARGUMENT", details: [infoOf(reason)] },
    ]);
    expect(hitCount()).toBe(0);
  });

  test("with a picture over 35 MiB is refused while it is received", async () => {
    const data = "A".repeat(36 * 1024 * 1024 * (4 / 3));
    const response = await generate(FREE, requestOf([TEXT, { inlineData: { mimeType: "image/png", data } }]));
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { details: [{ reason: "invalid_image" }] } },
    ]);
    expect(hitCount()).toBe(0);
  });

  test("of another content type is refused", async () => {
    const response = await generate(FREE, "contents=1", {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect([response.status, await response.json()]).toMatchObject([
      415,
      { error: { status: "INVALID_ARGUMENT", details: [{ reason: "unsupported_media_type" }] } },
    ]);
  });

  test("has at most its family's number of pictures", async () => {
    expect((await generate(FREE, many(14, INLINE))).status).toBe(200);
  });

  test.each([
    ["sandbox-a", "wrong_endpoint_for_model"],
    ["sandbox-c", "wrong_endpoint_for_model"],
    ["sandbox-b-none", "model_not_available_for_routing"],
  ])("for the model %s is refused as %s", async (model, reason) => {
    const response = await generate(model, requestOf([TEXT]));
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { details: [{ reason }] } },
    ]);
  });
});

describe("paths", () => {
  test.each([
    `/v1beta/models/${FREE}:generateContent`,
    `/v1/models/${FREE}:generateContent`,
    `/v1beta/models/models/${FREE}:generateContent`,
    `/v1beta/models/models%2F${FREE}:generateContent`,
    `/v1/models/${FREE}%3AgenerateContent?alt=json`,
  ])("%s is served", async (path) => {
    const response = await fixture.gateway.call(path, { body: requestOf([TEXT]) });
    expect(response.status).toBe(200);
  });

  test.each([
    `/v1beta/models/${FREE}:x`,
    `/v1beta/models/${FREE}`,
    "/v1beta/models/:generateContent",
    "/v1beta/models/..:generateContent",
    "/v1beta/models/a%00b:generateContent",
  ])("%s is not found", async (path) => {
    const response = await fixture.gateway.call(path, { body: requestOf([TEXT]) });
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        error: {
          code: 404,
          message: expect.any(String),
          status: "NOT_FOUND",
          details: [infoOf("not_found")],
        },
      },
    ]);
    expect(hitCount()).toBe(0);
  });

  test.each(["/v1beta/models/a%2fb", "/v1/models/a/b", "/v1beta/a/b"])(
    "%s names an unknown model",
    async (path) => {
      const response = await fixture.gateway.call(`${path}:generateContent`, { body: requestOf([TEXT]) });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { details: [{ reason: "model_not_available_for_routing" }] } },
      ]);
    },
  );

  test.each(["", "?alt=sse"])(
    "streamGenerateContent%s is a stream of one event, charged once",
    async (query) => {
      for (const model of [FREE, "sandbox-b-fast"]) {
        const requestId = `stream-${model}-${query.length}`;
        const path = `/v1beta/models/${model}:streamGenerateContent${query}`;
        const response = await fixture.gateway.call(path, {
          body: requestOf([TEXT]),
          headers: { "x-request-id": requestId },
        });
        const type = query === "" ? "application/json" : "text/event-stream";
        expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
        const text = await response.text();
        const events = query === "" ? JSON.parse(text) : [JSON.parse(/^data: (.*)\n\n$/.exec(text)![1]!)];
        expect(events).toMatchObject([{ candidates: [{ content: { role: "model" } }] }]);
        expect(JSON.stringify(events)).toContain('"inlineData"');
        if (model !== FREE) expect(await fixture.gateway.charged(requestId)).toHaveLength(1);
      }
    },
  );

  test("the tokens of a picture are not counted", async () => {
    const response = await fixture.gateway.call(`/v1beta/models/${FREE}:countTokens`, {
      body: requestOf([TEXT]),
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        error: {
          message: expect.stringContaining("generateContent"),
          details: [{ reason: "wrong_endpoint_for_model" }],
        },
      },
    ]);
  });

  test("a call is a POST", async () => {
    const response = await fixture.gateway.call(`/v1beta/models/${FREE}:generateContent`, {
      method: "PUT",
      body: "{}",
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("are among the endpoints of the models that serve them", async () => {
    const listed = (await (await fixture.gateway.call("/v1/models")).json()) as {
      data: { id: string; type: string; family: string | null; endpoints: string[] }[];
    };
    for (const { id, type, family, endpoints } of listed.data) {
      const native = `/v1beta/models/${id}:generateContent`;
      expect([id, endpoints.includes(native)]).toEqual([id, TEXT_TYPES.includes(type) || family === "B"]);
      expect([id, endpoints.includes("/v1/images/edits")]).toEqual([id, type === "image"]);
    }
    expect(listed.data.map(({ id }) => id)).toContain(LITE);
  });
});

const TEXT_TYPES = ["chat", "messages"];

describe("the key", () => {
  const path = `/v1beta/models/${FREE}:generateContent`;
  const callWith = (headers: Record<string, string>, query = "") =>
    fetch(`${fixture.gateway.url}${path}${query}`, { method: "POST", body: "{", headers });
  const reasonOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { details: { reason: string }[] } };
    return [response.status, error.details[0]!.reason];
  };

  test("is read from the protocol's own header", async () => {
    expect(await reasonOf(await callWith({ "x-goog-api-key": fixture.gateway.key }))).toEqual([
      400,
      "invalid_request_body",
    ]);
  });

  test("is not read from another protocol's header or the query", async () => {
    const missing = [401, "missing_api_key"];
    expect(await reasonOf(await callWith({ "x-api-key": fixture.gateway.key }))).toEqual(missing);
    expect(await reasonOf(await callWith({}, `?key=${fixture.gateway.key}`))).toEqual(missing);
    expect(await reasonOf(await callWith({ "x-goog-api-key": "" }))).toEqual(missing);
  });

  test("needs the scope for images", async () => {
    const created = await fixture.gateway.cli(
      "keys",
      "create",
      "--name",
      "text",
      "--scope",
      "ai:llm",
      "--json",
    );
    const { secret } = JSON.parse(created) as { secret: string };
    expect(await reasonOf(await callWith({ "x-goog-api-key": secret }))).toEqual([
      401,
      "authentication_required",
    ]);
  });
});

test("every endpoint sends the same tier and ratio at the same price", async () => {
  const common = { model: FAST, prompt: "A fox", size: "4K", aspectRatio: "16:9" };
  const headers = (name: string) => ({ "x-request-id": `native-parity-${name}` });
  await fixture.gateway.call("/v1/images/generations", { body: common, headers: headers("generation") });
  await fixture.gateway.call("/v1/images/edits", {
    body: { ...common, image: PNG },
    headers: headers("edit"),
  });
  const native = requestOf([{ text: "A fox" }], { imageConfig: { imageSize: "4k", aspectRatio: "16:9" } });
  await (await generate(FAST, native, headers("native"))).bytes();
  const configs = fixture.strict.hits.map(
    (hit) => (hit.json()["generationConfig"] as Record<string, unknown>)["imageConfig"],
  );
  expect(configs).toEqual([1, 2, 3].map(() => ({ aspectRatio: "16:9", imageSize: "4K" })));
  for (const name of ["generation", "edit", "native"]) {
    const [row, ...others] = await fixture.gateway.charged(`native-parity-${name}`);
    expect(others).toEqual([]);
    expect(row!.amount).toBe(NANOS["4K"]);
  }
});
