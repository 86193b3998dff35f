import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI, { AzureOpenAI, BadRequestError, NotFoundError } from "openai-6";
import { GoogleGenAI } from "@google/genai";
import { readError } from "../support/vendor.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY as GEMINI_KEY, startGemini } from "../upstreams/gemini.ts";
import { vectorOf } from "../upstreams/openai/embeddings.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/* Embeddings by the unmodified official client, for the sandbox and simulated vendors of two protocols. */
const SAME = "house-same";
const OTHER = "house-other";
/** Nano-units per token: 0.5 USD per million. */
const NANOS = 500n;

let gateway: TestGateway;
let openai: Simulator;
let gemini: Simulator;
let client: OpenAI;
/** Response of the vendor `long`, which has long vectors. */
let answer = "";
const long = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(answer) });

beforeAll(async () => {
  [openai, gemini] = await Promise.all([startOpenAi(), startGemini()]);
  const model = (channel: string, upstream_model: string) => ({
    type: "embedding",
    dimensions: 1_536,
    price: { currency: "USD", per_million: { input: "0.5" } },
    route: { targets: [{ channel, upstream_model }] },
  });
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      channels: {
        same: { provider: "openai", base_url: `${openai.url}/v1`, credential: { env: "OPENAI" } },
        long: { provider: "openai", base_url: `${long.url.href}v1`, credential: { env: "OPENAI" } },
        other: { provider: "gemini", base_url: gemini.url, credential: { env: "GEMINI" } },
      },
      models: {
        [SAME]: model("same", "text-embedding-3-small"),
        [OTHER]: model("other", "gemini-embedding-2"),
        long: model("long", "long"),
        "house/slash": model("same", "text-embedding-3-small"),
      },
      routing: { max_attempts: 1 },
    }),
    env: { OPENAI: OPENAI_KEY, GEMINI: GEMINI_KEY },
  });
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([openai.close(), gemini.close(), long.stop(true)]);
});
beforeEach(() => {
  openai.reset();
  gemini.reset();
});

/** Awaits the call here, because `expect` accepts only native promises, and the client's promises are not native. */
async function failureOf(call: PromiseLike<unknown>): Promise<BadRequestError> {
  try {
    await call;
  } catch (error) {
    return error as BadRequestError;
  }
  throw new Error("did not fail");
}

const lengthOf = (vector: readonly number[]) => Math.hypot(...vector);
let ids = 0;

describe.each([SAME, OTHER, "sandbox-embedding"])("on %s", (model) => {
  test("texts have vectors of unit length, the same as floats and as base64, and are billed by their tokens", async () => {
    const requestId = `embeddings-${ids++}`;
    const input = ["a harbour at dawn", "a lighthouse"];
    // By default, the client requests base64 and decodes it.
    const decoded = await client.embeddings.create(
      { model, input },
      { headers: { "X-Request-Id": requestId } },
    );
    const floats = await client.embeddings.create({ model, input, encoding_format: "float" });
    expect(decoded).toMatchObject({ object: "list", model });
    expect(decoded.data.map(({ index, object }) => [index, object])).toEqual([
      [0, "embedding"],
      [1, "embedding"],
    ]);
    for (const [index, { embedding }] of decoded.data.entries()) {
      expect(lengthOf(embedding)).toBeCloseTo(1, 5);
      const exact = floats.data[index]!.embedding;
      expect(embedding.every((value, at) => Math.abs(value - exact[at]!) < 1e-6)).toBe(true);
    }
    const { prompt_tokens, total_tokens } = decoded.usage;
    expect([total_tokens, floats.usage.total_tokens]).toEqual([prompt_tokens, prompt_tokens]);
    const [row, ...others] = await gateway.charged(requestId);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      model,
      flags: [],
      consumed: { unit: "token", tokens: { input: prompt_tokens } },
    });
    if (model !== "sandbox-embedding") expect(row!.amount).toBe(BigInt(prompt_tokens) * NANOS);
  });

  test("one text and a number of dimensions", async () => {
    const { data } = await client.embeddings.create({ model, input: "a harbour", dimensions: 64 });
    expect(data).toHaveLength(1);
    expect(data[0]!.embedding).toHaveLength(64);
    expect(lengthOf(data[0]!.embedding)).toBeCloseTo(1, 5);
  });

  test("the native protocol's client gets the same vectors, billed the same", async () => {
    const google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    const texts = ["a harbour at dawn", "a lighthouse"];
    const requestId = `embeddings-${ids++}`;
    const { embeddings } = await google.models.embedContent({
      model,
      contents: texts,
      config: {
        outputDimensionality: 64,
        taskType: "RETRIEVAL_QUERY",
        httpOptions: { headers: { "x-request-id": requestId } },
      },
    });
    const { data, usage } = await client.embeddings.create({ model, input: texts, dimensions: 64 });
    const rounded = (vector?: readonly number[]) => vector?.map((each) => each.toFixed(5));
    expect(embeddings!.map(({ values }) => rounded(values))).toEqual(
      data.map(({ embedding }) => rounded(embedding)),
    );
    const [row, ...others] = await gateway.charged(requestId);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ model, consumed: { tokens: { input: usage.prompt_tokens } } });
    if (model === OTHER)
      expect(gemini.hits[0]!.json()).toMatchObject({ requests: [{ taskType: "RETRIEVAL_QUERY" }, {}] });
  });

  test("one embedding by the native protocol, with what its vendor was not told", async () => {
    const body = { content: { parts: [{ text: "a harbour" }] }, task_type: "CLUSTERING", title: "Pier" };
    const response = await gateway.call(`/v1beta/models/${model}:embedContent`, { body });
    const reply = (await response.json()) as { embedding: { values: number[] } };
    expect(reply).toMatchObject({ usageMetadata: { promptTokenCount: expect.any(Number) } });
    expect(lengthOf(reply.embedding.values)).toBeCloseTo(1, 5);
    expect(response.headers.get("x-gateway-ignored-params")).toBe(model === OTHER ? null : "taskType, title");
    const headers = { "x-gateway-strict": "true" };
    const strict = await gateway.call(`/v1beta/models/${model}:embedContent`, { body, headers });
    expect(strict.status).toBe(model === OTHER ? 200 : 400);
  });

  test("fields that no vendor is told are named, or refused where the caller wants that", async () => {
    const request = { content: { parts: [{ text: "a harbour" }], hue: 1 }, autoTruncate: true };
    const path = `/v1beta/models/${model}:batchEmbedContents`;
    const body = { requests: [request, request], outputDimensionality: 64 };
    const response = await gateway.call(path, { body });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gateway-ignored-params")).toBe(
      "outputDimensionality, autoTruncate, content.hue",
    );
    const headers = { "x-gateway-strict": "true" };
    expect((await gateway.call(path, { body, headers })).status).toBe(400);
    const picture = { text: "a harbour", inlineData: { mimeType: "image/png", data: "AA==" } };
    const mixed = await gateway.call(path, { body: { requests: [{ content: { parts: [picture] } }] } });
    expect(mixed.status).toBe(400);
  });

  test("a large batch", async () => {
    const input = Array.from({ length: 250 }, (_, index) => `text ${index}`);
    const { data } = await client.embeddings.create({ model, input, dimensions: 8 });
    expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
    if (model === OTHER) expect(gemini.hits.length).toBe(3);
  });
});

test.each<[string, string, object, string]>([
  [SAME, "embedContent", {}, "content"],
  [SAME, "embedContent", { content: { parts: [{ text: "" }] } }, "content"],
  [SAME, "embedContent", { content: { parts: [{ inlineData: {} }] } }, "content.parts[0]"],
  [SAME, "embedContent", { content: { parts: [{ text: "x" }] }, model: "models/other" }, "model"],
  [
    SAME,
    "embedContent",
    { content: { parts: [{ text: "x" }] }, outputDimensionality: 0 },
    "outputDimensionality",
  ],
  [SAME, "batchEmbedContents", { requests: [] }, "requests"],
  [SAME, "batchEmbedContents", { requests: [{}] }, "requests[0].content"],
  ["sandbox-chat", "embedContent", { content: { parts: [{ text: "x" }] } }, "wrong_endpoint_for_model"],
])("%s:%s of %j is refused", async (model, method, body, param) => {
  const response = await gateway.call(`/v1beta/models/${model}:${method}`, { body });
  const error = JSON.stringify(await readError(response));
  expect(response.status).toBe(400);
  if (model === SAME) expect(error).toContain(`\`${param}\``);
  else expect(error).toContain("wrong_endpoint_for_model");
  expect(openai.hits).toEqual([]);
});

test("a model with a slash in its name is called with and without its kind", async () => {
  for (const place of ["models/", "models/models/", ""]) {
    const response = await gateway.call(`/v1beta/${place}house/slash:embedContent`, {
      body: { content: { parts: [{ text: "x" }] } },
    });
    expect([place, response.status]).toEqual([place, 200]);
  }
});

test("vectors for as many texts as are taken pass, and more than 64 MiB of them say what to change", async () => {
  const vector = (numbers: number) => `[${"-0.0230642557144,".repeat(numbers - 1)}0]`;
  const responseOf = (numbers: number) => {
    const data = Array.from({ length: 2_048 }, () => `{"embedding":${vector(numbers)}}`);
    return `{"data":[${data.join()}],"model":"long","usage":{"prompt_tokens":1,"total_tokens":1}}`;
  };
  const input = Array.from({ length: 2_048 }, () => "x");
  const call = () => gateway.call("/v1/embeddings", { body: { model: "long", input } });
  answer = responseOf(1_536);
  const passed = await call();
  expect([passed.status, await passed.text()]).toEqual([200, answer]);
  answer = responseOf(2_048);
  const refused = await call();
  const { error } = (await refused.json()) as { error: Record<string, unknown> };
  expect([refused.status, error["param"]]).toEqual([400, "input"]);
  expect(error["message"]).toContain("fewer inputs");
}, 30_000);

test("the bytes to and from a vendor of the protocol differ by the model's name only", async () => {
  const body = `{ "input" : "caf\\u00e9", "dimensions":3,"model":"${SAME}","user":"u" }`;
  const response = await gateway.call("/v1/embeddings", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  expect(openai.hits[0]!.body.toString()).toBe(body.replace(SAME, "text-embedding-3-small"));
  expect(await response.text()).toContain(`"model":"${SAME}","usage":{"prompt_tokens":1,"total_tokens":1}}`);
});

test("Azure's client names the model in the path", async () => {
  const azure = new AzureOpenAI({
    apiKey: gateway.key,
    endpoint: gateway.url,
    apiVersion: "2024-10-21",
    deployment: SAME,
  });
  const { data, model } = await azure.embeddings.create({ model: "any", input: "a harbour", dimensions: 4 });
  expect([model, data[0]!.embedding.length]).toEqual([SAME, 4]);
});

test("the sandbox places texts with words in common near each other, always the same", async () => {
  const input = ["a quiet harbour at night", "a quiet harbour at dawn", "tax law reform"];
  const embed = async () => (await client.embeddings.create({ model: "sandbox-embedding", input })).data;
  const [one, two] = [await embed(), await embed()];
  expect(one).toEqual(two);
  const nearness = (a: number, b: number) =>
    one[a]!.embedding.reduce((sum, value, at) => sum + value * one[b]!.embedding[at]!, 0);
  expect(nearness(0, 1)).toBeGreaterThan(nearness(0, 2) + 0.3);
});

test("tokens go to a vendor that takes them", async () => {
  const { data } = await client.embeddings.create({ model: SAME, input: [[1, 2], [3]], dimensions: 4 });
  expect(data[0]!.embedding.map((value) => Math.fround(value))).toEqual(vectorOf("1,2", 4));
  const refused: unknown = await client.embeddings
    .create({ model: OTHER, input: [1, 2] })
    .catch((error) => error);
  expect(refused).toBeInstanceOf(BadRequestError);
  expect((refused as BadRequestError).param).toBe("input");
  expect(gemini.hits).toHaveLength(0);
});

test("usage that a vendor leaves out is estimated, and a vector that it leaves out is a failure", async () => {
  gemini.next("no-usage");
  const { usage } = await client.embeddings.create({ model: OTHER, input: "a harbour" });
  expect(usage.prompt_tokens).toBeGreaterThan(1);
  openai.next("choices-missing");
  const failure = await failureOf(client.embeddings.create({ model: SAME, input: ["a", "b"] }));
  expect(failure).toMatchObject({ status: 502 });
});

describe("errors have chat's shape:", () => {
  test.each<[object, unknown[]]>([
    [{ input: "a" }, [400, "model_required", "model"]],
    [{ model: SAME }, [400, "invalid_parameter", "input"]],
    [{ model: SAME, input: "" }, [400, "invalid_parameter", "input"]],
    [{ model: SAME, input: ["a", ""] }, [400, "invalid_parameter", "input"]],
    [{ model: SAME, input: [1, "a"] }, [400, "invalid_parameter", "input"]],
    [{ model: SAME, input: "a", dimensions: 0 }, [400, "invalid_parameter", "dimensions"]],
    [{ model: SAME, input: "a", encoding_format: "hex" }, [400, "invalid_parameter", "encoding_format"]],
    [{ model: SAME, input: "a", provider: "x" }, [400, "provider_not_allowed", "provider"]],
    [{ model: SAME, input: "a", dimensions: 9_999 }, [400, "invalid_parameter", "dimensions"]],
    [{ model: "sandbox-chat", input: "a" }, [400, "wrong_endpoint_for_model", "model"]],
    [{ model: "nobody", input: "a" }, [400, "model_not_available_for_routing", "model"]],
  ])("%j", async (body, expected) => {
    const failure = await failureOf(client.embeddings.create(body as OpenAI.EmbeddingCreateParams));
    const { status, code, param }: Record<string, unknown> = { ...failure };
    expect([status, code, param]).toEqual(expected);
  });

  test("an embedding model does not chat", async () => {
    const call = client.chat.completions.create({ model: SAME, messages: [{ role: "user", content: "a" }] });
    expect(await failureOf(call)).toMatchObject({ code: "wrong_endpoint_for_model" });
  });
});

test("the list of models names its endpoint, and the lookup its price", async () => {
  expect(await client.models.retrieve(SAME)).toMatchObject({
    type: "embedding",
    endpoints: ["/v1/embeddings", `/v1beta/models/${SAME}:embedContent`],
    limits: { dimensions: 1_536 },
  } as never);
  expect(await failureOf(client.models.retrieve("nobody"))).toBeInstanceOf(NotFoundError);
  const price = await (await gateway.call(`/v1/pricing/lookup?model=${SAME}`)).json();
  expect(price).toMatchObject({ unit: "token", prices: { input: "0.50" } });
});

test("a title that the vendor reads is billed where the vendor reports no usage", async () => {
  gemini.next("no-usage");
  const requestId = `embeddings-${ids++}`;
  const body = { content: { parts: [{ text: "pier" }] }, title: "a harbour at dawn ".repeat(500) };
  const headers = { "x-request-id": requestId };
  const response = await gateway.call(`/v1beta/models/${OTHER}:embedContent`, { body, headers });
  expect(response.status).toBe(200);
  const [row] = await gateway.charged(requestId);
  expect(row!.amount).toBeGreaterThan(1_500n * NANOS);
});
