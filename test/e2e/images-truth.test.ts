import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { formOf, textsOf } from "../support/images-forms.ts";
import { openImageFixture, type ImageFixture } from "./images-vendors.ts";

/*
 * Response, headers and charge match what was delivered, whatever the vendor did. Invalid generations are refused
 * without a charge.
 */
const MODEL = "gpt-image-2";
/** A model with one vendor, so no other vendor is called after a failure. */
const ALONE = "gpt-image-2.5-flare";
const LOW_1K = 5_900_000n;
const IMAGE = `data:image/png;base64,${makePng(40, 30).toString("base64")}`;

let fixture: ImageFixture;

beforeAll(async () => {
  fixture = await openImageFixture({
    yaml: `
models:
  unpriced:
    type: image
    family: A
    image: { size_mode: table, tiers: [1K], ratios: ["1:1"], sizes: { 1K: { "1:1": 1024x1024 } }, formats: [png] }
    route: { targets: [{ channel: openai, upstream_model: gpt-image-2 }] }
  house-image:
    type: image
    family: A
    image: { size_mode: table, tiers: [1K], ratios: ["1:1"], sizes: { 1K: { "1:1": 1024x1024 } }, formats: [png], max_images_per_call: 4 }
    price: { currency: USD, per_image: { 1K: { "*": "0.05" } } }
    route: { targets: [{ channel: openai, upstream_model: gpt-image-2 }] }
`,
  });
});
afterEach(() => fixture.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

describe("a vendor that returns another number of pictures", () => {
  test.each([
    [4, 2, "2/4"],
    [3, 1, "1/3"],
    [2, 2, null],
    [1, 3, null],
    [2, 6, null],
  ])(
    "requested %p, returned %p: the header is %p and the bill agrees",
    async (requested, given, degraded) => {
      fixture.vendors.openai.next({ images: given });
      const delivered = Math.min(requested, given);
      const { response, reply } = await generate({ n: requested, quality: "low" });
      expect(reply.data).toHaveLength(delivered);
      expect(response.headers.get("x-image-count-degraded")).toBe(degraded);
      expect(response.headers.get("x-gateway-generated-images")).toBe(String(delivered));
      const row = await charged(response);
      expect(row).toMatchObject({ amount: LOW_1K * BigInt(delivered), consumed: { count: delivered } });
      expect(row.flags).toEqual(degraded ? ["partial"] : []);
      const line = await until("the log line", () =>
        fixture.gateway.logs().find((candidate) => candidate["request_id"] === row.request_id),
      );
      expect(line["surplus"]).toBe(given > requested ? given - requested : undefined);
    },
  );
});

describe("usage", () => {
  test("that is not reported is absent, and pictures are billed", async () => {
    fixture.vendors.openai.next("no-usage");
    const { response, reply } = await generate({ quality: "low" });
    expect(reply).not.toHaveProperty("usage");
    expect((await charged(response)).amount).toBe(LOW_1K);
  });

  test("that is reported or impossible does not change the charge", async () => {
    for (const usage of [
      { input_tokens: 9e9, output_tokens: 9e9, total_tokens: 2e10 },
      { input_tokens: -5, output_tokens: 1 },
    ]) {
      fixture.vendors.openai.next({ usage });
      expect((await charged((await generate({ quality: "low" })).response)).amount).toBe(LOW_1K);
    }
  });
});

describe("the vendor gets the same request", () => {
  const requests = [
    { size: "4K", aspectRatio: "21:9" },
    { size: "2K", aspect_ratio: "4:5" },
    { size: "1920x1080" },
  ];

  test.each(requests)("for %o from every endpoint of family A", async (request) => {
    const body = { model: MODEL, prompt: "x", quality: "low", output_format: "jpeg", ...request };
    await call("/v1/images/generations", { body });
    await call("/v1/images/edits", { body: { ...body, image: IMAGE } });
    await call("/v1/images/edits", { body: formOf([...Object.entries(body), ["image", makePng(40, 30)]]) });
    const [generation, ...edits] = fixture.vendors.openai.hits;
    const sizes = [
      generation!.json()["size"],
      ...(await Promise.all(edits.map(async (hit) => (await textsOf(hit))["size"]))),
    ];
    expect(sizes).toHaveLength(3);
    expect(new Set(sizes).size).toBe(1);
  });

  test("for a tier and a ratio from every endpoint of the other families", async () => {
    const expected = {
      gemini: ["gemini-3.1-flash-image", "imageConfig"],
      ark: ["seedream-5-0-pro", "size"],
    } as const;
    for (const [vendor, [model]] of Object.entries(expected)) {
      const body = { model, prompt: "x", size: "2K", aspectRatio: "16:9" };
      await call("/v1/images/generations", { body });
      await call("/v1/images/edits", { body: { ...body, image: IMAGE } });
      const actual = fixture.vendors[vendor as keyof typeof expected].hits.map((hit) =>
        requestedSize(hit.json()),
      );
      expect(actual[0]).toBe(vendor === "ark" ? "2816x1584" : "16:9 2K");
      expect(actual[1]).toBe(actual[0]);
    }
  });

  test("under the vendor's model name, with unchanged picture bytes", async () => {
    const { response } = await edit({ model: "house-image" });
    expect((await textsOf(fixture.vendors.openai.hits[0]!))["model"]).toBe(MODEL);
    expect((await charged(response)).model).toBe("house-image");
  });
});

describe("a failure costs nothing", () => {
  test.each([
    ["openai", MODEL, "content-refused", 400, "content_policy_violation"],
    ["xai", "grok-imagine-image", "no-images", 400, "content_policy_violation"],
    ["ark", "seedream-5-0-pro", "failed-items", 400, "content_policy_violation"],
    ["openai", ALONE, "rate-limited", 429, "rate_limit_exceeded"],
    ["openai", ALONE, "bad-base64", 502, "upstream_error"],
    ["openai", ALONE, "no-images", 502, "upstream_error"],
  ] as const)("at %s: %s with %s", async (vendor, model, fault, status, code) => {
    // A longer time to wait would eject the target, which other tests call.
    const behaviour = { fault, retryAfter: "0" };
    fixture.vendors[vendor].next(behaviour, behaviour, behaviour, behaviour);
    const response = await fixture.gateway.call("/v1/images/generations", { body: { model, prompt: "x" } });
    const { error } = (await response.json()) as { error: { code: string; message: string; type: string } };
    expect({ status: response.status, code: error.code }).toEqual({ status, code });
    expect(error.message).not.toMatch(/openai|xai|grok|ark|seedream|sk-|req_0/i);
    failed.add(response.headers.get("x-gateway-request-id")!);
  });

  test("and a model without a price is not called", async () => {
    const response = await fixture.gateway.call("/v1/images/generations", {
      body: { model: "unpriced", prompt: "x" },
    });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ error: { code: "MODEL_PRICE_NOT_CONFIGURED" } });
    expect(fixture.hits()).toBe(0);
    failed.add(response.headers.get("x-gateway-request-id")!);
  });
});

describe("a generation is refused with the field to change", () => {
  test.each<[string, object, string]>([
    ["no model", { model: undefined }, "model"],
    ["an empty model", { model: "" }, "model"],
    ["a model that is a number", { model: 5 }, "model"],
    ["no prompt", { prompt: undefined }, "prompt"],
    ["an empty prompt", { prompt: "" }, "prompt"],
    ["a prompt that is a list", { prompt: [] }, "prompt"],
    ...[0, 5, -1, 1.5, "2", true, [], 1e3, 18446744073686646784].map((n): [string, object, string] => [
      `n of ${String(n)}`,
      { n },
      "n",
    ]),
    ...[-1, 101, "x", 1.5].map((value): [string, object, string] => [
      `a compression of ${value}`,
      { output_compression: value },
      "output_compression",
    ]),
    ...["gif", "PNG ", 7].map((value): [string, object, string] => [
      `the format ${value}`,
      { output_format: value },
      "output_format",
    ]),
    ...["file", 7].map((value): [string, object, string] => [
      `delivery as ${value}`,
      { response_format: value },
      "response_format",
    ]),
    ...["none", 7].map((value): [string, object, string] => [
      `the background ${value}`,
      { background: value },
      "background",
    ]),
    ...["ultra", 7].map((value): [string, object, string] => [
      `the quality ${value}`,
      { quality: value },
      "quality",
    ]),
    ["a size that is a number", { size: 7 }, "size"],
    ["a size that is an object", { size: {} }, "size"],
    ["a ratio that is a number", { aspectRatio: 1.5 }, "aspectRatio"],
  ])("%s", async (_, fields, param) => {
    const body = { model: MODEL, prompt: "x", ...fields };
    const response = await fixture.gateway.call("/v1/images/generations", { body });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: object };
    expect(Object.keys(error).toSorted()).toEqual(["code", "message", "param", "request_id", "type"]);
    expect(error).toMatchObject({ param, type: "bad_request" });
    expect(fixture.hits()).toBe(0);
    failed.add(response.headers.get("x-gateway-request-id")!);
  });

  test("but not for fields that the family ignores", async () => {
    for (const body of [
      { model: "gemini-3.1-flash-image", quality: "ultra", background: "none" },
      { n: null, size: null, quality: null, response_format: null, output_format: null, aspectRatio: null },
      { stream: false, moderation: 7, user: {}, style: [] },
      { quality: "xhigh" },
      { size: "1024×1024" },
      { size: "-1x-1" },
      { size: "1e3x1e3", aspectRatio: "1:1000000000" },
      { background: "transparent" },
    ]) {
      const { response } = await generate(body);
      // A size is aligned, and the reply contains the actual size. A header reports an unused background.
      const named = "background" in body ? "background" : null;
      expect(response.headers.get("x-gateway-ignored-params")).toBe(named);
    }
  });
});

describe("a link to a result", () => {
  test("returns only the picture, complete, in ranges or by HEAD", async () => {
    const { reply } = await generate({ output_format: "jpeg", quality: "low" });
    const { url } = reply.data[0]!;
    const complete = await fetch(url!);
    const bytes = await complete.bytes();
    expect(complete.headers.get("content-type")).toBe("image/jpeg");
    expect(complete.headers.get("x-content-type-options")).toBe("nosniff");
    expect(complete.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(complete.headers.get("content-disposition")).toMatch(/^inline; filename="[\w-]+\.jpg"$/);
    const part = await fetch(url!, { headers: { range: "bytes=10-19" } });
    expect([part.status, part.headers.get("content-range")]).toEqual([
      206,
      `bytes 10-19/${bytes.byteLength}`,
    ]);
    expect(await part.bytes()).toEqual(bytes.slice(10, 20));
    const head = await fetch(url!, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(bytes.byteLength)]);
    for (const broken of [
      url!.replace(/sig=./, "sig=!"),
      url!.replace(/exp=\d/, "exp=9"),
      url!.split("?")[0]!,
    ])
      expect((await fetch(broken)).status).toBe(404);
  });

  test("has the address of the request", async () => {
    const { reply } = await generate({ quality: "low" }, { host: "pictures.example:8443" });
    expect(reply.data[0]!.url).toStartWith("http://pictures.example:8443/files/");
  });
});

test("no failed request is in the ledger", async () => {
  await charged((await generate({ quality: "low" })).response);
  expect(failed.size).toBeGreaterThan(30);
  expect((await fixture.gateway.ledger()).filter((row) => failed.has(row.request_id))).toEqual([]);
});

/** Ids of requests that must not be charged. */
const failed = new Set<string>();

interface ImageReply {
  data: { url?: string; b64_json?: string }[];
}

interface Made {
  response: Response;
  reply: ImageReply;
}

function generate(fields: object, headers: Record<string, string> = {}): Promise<Made> {
  return call("/v1/images/generations", { body: { model: MODEL, prompt: "a pier", ...fields }, headers });
}

function edit(fields: object): Promise<Made> {
  return call("/v1/images/edits", { body: { model: MODEL, prompt: "a pier", image: IMAGE, ...fields } });
}

async function call(path: string, init: { body: object; headers?: Record<string, string> }): Promise<Made> {
  const response = await fixture.gateway.call(path, init);
  if (response.status !== 200) throw new Error(await response.text());
  return { response, reply: (await response.json()) as ImageReply };
}

async function charged(response: Response) {
  const rows = await fixture.gateway.charged(response.headers.get("x-gateway-request-id")!);
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

/** Returns the size in a request of family B or C. */
function requestedSize(body: Record<string, unknown>): unknown {
  const { imageConfig: config } = Object(body["generationConfig"]);
  return config ? `${config.aspectRatio} ${config.imageSize}` : body["size"];
}
