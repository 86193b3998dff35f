import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { z } from "zod";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import { startSimulator, type Simulator } from "../upstreams/simulator.ts";
import { sendJson } from "../upstreams/transport.ts";

/* Broken pictures and usage reports of a vendor, with their effect on the reply and the charge. */
const PRICE = 50_000_000n;
let broken: Simulator;
let strict: Simulator;
let gateway: TestGateway;
/** Response of the first vendor. */
let answer: object = {};

beforeAll(async () => {
  broken = await startSimulator((_, response) => sendJson(response, 200, answer, {}));
  strict = await startOpenAi();
  const image = {
    size_mode: "table",
    tiers: ["1K"],
    ratios: ["1:1"],
    sizes: { "1K": { "1:1": "1024x1024" } },
    formats: ["png"],
    qualities: ["low", "medium", "high"],
    max_images_per_call: 4,
  };
  const model = (...channels: string[]) => ({
    type: "image",
    family: "A",
    image,
    price: { currency: "USD", per_image: { "1K": { "*": "0.05" } } },
    route: { targets: channels.map((channel) => ({ channel, upstream_model: "gpt-image-2" })) },
  });
  const channel = (url: string) => ({
    provider: "openai",
    base_url: `${url}/v1`,
    credential: { env: "VENDOR_KEY" },
  });
  const configuration = {
    channels: { broken: channel(broken.url), strict: channel(strict.url) },
    models: { alone: model("broken"), both: model("broken", "strict") },
    routing: { max_attempts: 2 },
  };
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify(configuration),
    env: { VENDOR_KEY: SIMULATED_KEY },
  });
});
afterEach(() => [broken, strict].forEach((vendor) => vendor.reset()));
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([broken.close(), strict.close()]);
});

const picture = new Bun.Image(makePng(64, 64));
const whole = {
  png: await picture.png().buffer(),
  jpeg: await picture.jpeg().buffer(),
  "progressive jpeg": await picture.jpeg({ progressive: true }).buffer(),
  webp: await picture.webp().buffer(),
};

function answerWith(...pictures: Uint8Array[]): void {
  const data = pictures.map((bytes) => ({ b64_json: Buffer.from(bytes).toString("base64") }));
  answer = { created: 1, data, usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 } };
}

function generate(id: string, fields: object): Promise<Response> {
  return gateway.call("/v1/images/generations", {
    body: { prompt: "x", response_format: "b64_json", ...fields },
    headers: { ...(id && { "x-request-id": id }) },
  });
}

/** Sends successful calls between broken ones, so that the channel is not ejected. */
async function recover(): Promise<void> {
  answerWith(whole.png);
  for (let count = 0; count < 3; count += 1) {
    const response = await generate("", { model: "alone" });
    expect(response.status).toBe(200);
    await response.bytes();
  }
}

test.each(Object.entries(whole))(
  "a %s that a vendor cut is never delivered or billed",
  async (name, bytes) => {
    const prefix = `cut-${name.replace(" ", "-")}`;
    for (const [share, output_format] of [
      [0.4, undefined],
      [0.7, "png"],
      [0.95, "jpeg"],
    ] as const) {
      answerWith(bytes.subarray(0, Math.floor(bytes.length * share)));
      const response = await generate(`${prefix}-${share}`, { model: "alone", output_format });
      expect([response.status, await response.json()]).toMatchObject([
        502,
        { error: { code: "upstream_error" } },
      ]);
      await recover();
      answerWith(bytes.subarray(0, Math.floor(bytes.length * share)));
      const next = await generate(`next-${prefix}-${share}`, { model: "both" });
      expect(next.status).toBe(200);
      await next.bytes();
      expect(await gateway.charged(`next-${prefix}-${share}`)).toMatchObject([
        { amount: PRICE, channel: "strict", attempts: [{ outcome: "broken" }, { outcome: "answered" }] },
      ]);
      await recover();
    }
    const billed = (await gateway.ledger()).map(({ request_id: id }) => String(id));
    expect(billed.filter((id) => id.startsWith(prefix))).toEqual([]);
  },
);

test("of several pictures the whole ones are delivered and billed", async () => {
  answerWith(whole.png, whole.png.subarray(0, -20), whole.png);
  const response = await generate("some", { model: "alone", n: 3 });
  expect(response.headers.get("x-image-count-degraded")).toBe("2/3");
  const { data } = (await response.json()) as { data: { b64_json: string }[] };
  expect(data.map(({ b64_json: base64 }) => base64)).toEqual(Array(2).fill(whole.png.toString("base64")));
  expect(await gateway.charged("some")).toMatchObject([{ amount: 2n * PRICE }]);
});

const TOKENS = z.int().min(0);
/** OpenAI's specification (`ImagesResponse`, `ImageGenUsage`). Clients generated from it refuse other responses. */
const IMAGES_RESPONSE = z.strictObject({
  created: z.int(),
  model: z.string(),
  background: z.enum(["transparent", "opaque"]),
  output_format: z.enum(["png", "webp", "jpeg"]),
  size: z.string().regex(/^\d+x\d+$/),
  quality: z.enum(["low", "medium", "high"]).optional(),
  data: z.array(z.strictObject({ b64_json: z.base64().optional(), url: z.url().optional() })),
  usage: z
    .strictObject({
      input_tokens: TOKENS,
      total_tokens: TOKENS,
      output_tokens: TOKENS,
      input_tokens_details: z.strictObject({ text_tokens: TOKENS, image_tokens: TOKENS }),
      output_tokens_details: z.strictObject({ text_tokens: TOKENS, image_tokens: TOKENS }).optional(),
    })
    .optional(),
});

test("every image reply has the published shape", async () => {
  const image = `data:image/png;base64,${makePng(64, 48).toString("base64")}`;
  const calls: object[] = ["sandbox-a", "sandbox-b-lite", "sandbox-c", "sandbox-d-fast"].map((model) => ({
    model,
  }));
  calls.push({ model: "sandbox-a", quality: "hd", n: 2, output_format: "jpeg" });
  for (const fields of [{}, { quality: "auto" }, { quality: "low" }, { response_format: "url" }])
    calls.push({ model: "alone", ...fields });
  answerWith(whole.png);
  for (const fields of calls)
    for (const path of ["generations", "edits"]) {
      const body = {
        prompt: "a fox",
        size: "1K",
        quality: "low",
        ...fields,
        ...(path === "edits" && { image }),
      };
      const response = await gateway.call(`/v1/images/${path}`, { body });
      expect(response.status).toBe(200);
      IMAGES_RESPONSE.parse(await response.json());
    }
});

test("the vendor's division of tokens is passed on, or the references are image tokens", async () => {
  answerWith(whole.png);
  const usageOf = async (path: string, fields = {}) => {
    const response = await gateway.call(path, { body: { model: "alone", prompt: "a fox", ...fields } });
    return IMAGES_RESPONSE.parse(await response.json()).usage;
  };
  const usage = { input_tokens: 900, output_tokens: 50, total_tokens: 950 };
  const image = `data:image/png;base64,${makePng(9, 9).toString("base64")}`;
  answer = { ...answer, usage };
  expect(await usageOf("/v1/images/generations")).toEqual({
    ...usage,
    input_tokens_details: { text_tokens: 900, image_tokens: 0 },
  });
  expect(await usageOf("/v1/images/edits", { image })).toEqual({
    ...usage,
    input_tokens_details: { text_tokens: 2, image_tokens: 898 },
  });
  const details = {
    input_tokens_details: { text_tokens: 100, image_tokens: 800 },
    output_tokens_details: { text_tokens: 10, image_tokens: 40 },
  };
  answer = { ...answer, usage: { ...usage, ...details } };
  expect(await usageOf("/v1/images/edits", { image })).toEqual({ ...usage, ...details });
  answer = { ...answer, usage: { ...usage, input_tokens_details: { text_tokens: -1, image_tokens: 5e9 } } };
  expect((await usageOf("/v1/images/generations"))!.input_tokens_details).toEqual({
    text_tokens: 900,
    image_tokens: 0,
  });
});

test("older words of quality take effect under their new names, and unknown nulls are not named", async () => {
  answerWith(whole.png);
  for (const [older, quality] of [
    ["standard", "medium"],
    ["hd", "high"],
  ] as const) {
    const response = await generate(`word-${older}`, { model: "alone", quality: older, seed: null, foo: 1 });
    expect(await response.json()).toMatchObject({ quality });
    expect(response.headers.get("x-gateway-ignored-params")).toBe("foo");
  }
});
