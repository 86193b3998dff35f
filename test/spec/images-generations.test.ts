import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { CHAT, IMAGE, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";
import { until } from "../support/gateway.ts";

/* Fields of a generation: refused, adjusted and ignored fields, the delivery, and the charge. */
let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

interface Picture {
  size: string;
  quality: string;
  output_format: string;
  background: string;
  data: { url?: string; b64_json?: string }[];
}

const generate = (fields: object, requestId?: string) =>
  fixture.gateway.call("/v1/images/generations", {
    body: { model: IMAGE, prompt: "A quiet harbour", ...fields },
    headers: requestId === undefined ? {} : { "x-request-id": requestId },
  });

async function generatePicture(
  fields: object,
  requestId?: string,
): Promise<{ response: Response; picture: Picture }> {
  const response = await generate(fields, requestId);
  const text = await response.text();
  expect({ status: response.status, text: text.slice(0, 300) }).toMatchObject({ status: 200 });
  return { response, picture: JSON.parse(text) };
}

describe("an invalid field is 400 with its name, and nothing is generated", () => {
  test.each<[string, object, string]>([
    ["model", { model: null }, "model_required"],
    ["model", { model: "" }, "model_required"],
    ["model", { model: 5 }, "model_required"],
    ["model", { model: CHAT }, "wrong_endpoint_for_model"],
    ["model", { model: "nobody" }, "model_not_available_for_routing"],
    ["prompt", { prompt: undefined }, "prompt_required"],
    ["prompt", { prompt: null }, "prompt_required"],
    ["prompt", { prompt: "" }, "prompt_required"],
    ["prompt", { prompt: "  \n" }, "prompt_required"],
    ["prompt", { prompt: 5 }, "prompt_required"],
    ["prompt", { prompt: ["x"] }, "prompt_required"],
    ["n", { n: 0 }, "invalid_parameter"],
    ["n", { n: 5 }, "invalid_parameter"],
    ["n", { n: -1 }, "invalid_parameter"],
    ["n", { n: 1.5 }, "invalid_parameter"],
    ["n", { n: "2" }, "invalid_parameter"],
    ["n", { n: true }, "invalid_parameter"],
    ["n", { n: 1e3 }, "invalid_parameter"],
    ["n", { n: [1] }, "invalid_parameter"],
    ["output_compression", { output_compression: -1 }, "invalid_parameter"],
    ["output_compression", { output_compression: 101 }, "invalid_parameter"],
    ["output_compression", { output_compression: "50" }, "invalid_parameter"],
    ["output_compression", { output_compression: 1.5 }, "invalid_parameter"],
    ["output_format", { output_format: "gif" }, "invalid_parameter"],
    ["output_format", { output_format: "PNG " }, "invalid_parameter"],
    ["output_format", { output_format: 7 }, "invalid_parameter"],
    ["response_format", { response_format: "file" }, "invalid_parameter"],
    ["response_format", { response_format: 7 }, "invalid_parameter"],
    ["background", { background: "none" }, "invalid_parameter"],
    ["background", { background: 7 }, "invalid_parameter"],
    ["quality", { quality: "ultra" }, "invalid_parameter"],
    ["quality", { quality: 7 }, "invalid_parameter"],
    ["size", { size: 7 }, "invalid_parameter"],
    ["size", { size: {} }, "invalid_parameter"],
    ["aspectRatio", { aspectRatio: 7 }, "invalid_parameter"],
    ["aspect_ratio", { aspect_ratio: [] }, "invalid_parameter"],
    ["image", { image: "aGVsbG8=" }, "invalid_parameter"],
    ["images", { images: ["https://example.com/a.png"] }, "invalid_parameter"],
    ["mask", { mask: "aGVsbG8=" }, "invalid_parameter"],
  ])("%s of %p is %s", async (param, fields, code) => {
    const response = await generate(fields);
    expect(response.status).toBe(400);
    const requestId = response.headers.get("x-gateway-request-id")!;
    expect(response.headers.get("x-request-id")).toBe(requestId);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: "bad_request", param, code, request_id: requestId },
    });
  });

  test("a count that overflows to a negative number is refused", async () => {
    const response = await fixture.gateway.call("/v1/images/generations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"model":"${IMAGE}","prompt":"x","n":18446744073686646784}`,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "n" } });
  });

  test("neither the vendor nor the ledger has any of these requests", async () => {
    expect(fixture.vendor.hits).toHaveLength(0);
    await generatePicture({}, "sentinel");
    await fixture.gateway.charged("sentinel");
    expect(await fixture.gateway.ledger()).toHaveLength(1);
  });
});

describe("unsupported values are aligned or ignored, and the response has what took effect", () => {
  test.each<[object, string]>([
    [{ size: "1024x1024" }, "1024x1024"],
    [{ size: "1000x1000" }, "1008x1008"],
    [{ size: "2K" }, "2048x2048"],
    [{ size: "1K", aspectRatio: "3:2" }, "1248x832"],
    [{ size: "1K", aspect_ratio: "3:2" }, "1248x832"],
    [{ size: "1K", aspectRatio: "3:2", aspect_ratio: "1:1" }, "1248x832"],
    [{ size: "1K", aspectRatio: "16:0" }, "1024x1024"],
    [{ size: "1K", aspectRatio: "a:b" }, "1024x1024"],
    [{ size: "1K", aspectRatio: "16/9" }, "1024x1024"],
    [{ size: "1Kx" }, "1024x1024"],
    [{ size: "" }, "1024x1024"],
    [{ size: "0x0" }, "1024x1024"],
    [{ size: "-1x-1" }, "1024x1024"],
    [{ size: "auto" }, "1024x1024"],
    [
      { size: null, n: null, quality: null, output_format: null, response_format: null, background: null },
      "1024x1024",
    ],
    [{ quality: "xhigh" }, "1024x1024"],
    [{ quality: "max" }, "1024x1024"],
  ])("%p gives %s", async (fields, size) => {
    const { picture } = await generatePicture(fields);
    expect(picture.size).toBe(size);
    const file = await fetch(picture.data[0]!.url!);
    const { width, height } = await readImageHeader(await file.blob());
    expect(`${width}x${height}`).toBe(size);
  });

  test.each(["99999x99999", "1e3x1e3", "4k", "1024×1024", "1x100000"])(
    "size %p gives some picture",
    async (size) => {
      const { picture } = await generatePicture({ size });
      expect(picture.size).toMatch(/^\d+x\d+$/);
    },
  );

  test("fields of other services are ignored silently, unknown ones are listed", async () => {
    const silent = { stream: false, moderation: {}, user: 5, style: "vivid" };
    const quiet = await generatePicture(silent);
    expect(quiet.response.headers.has("x-gateway-ignored-params")).toBe(false);
    expect(quiet.response.headers.get("content-type")).toStartWith("application/json");
    const named = await generatePicture({
      ...silent,
      stream: true,
      partial_images: 2,
      seed: 1,
      negative_prompt: "x",
      "größe\r\nx-evil: 1": 1,
      "\ud800": 1,
    });
    const header = named.response.headers.get("x-gateway-ignored-params")!;
    expect(header).toStartWith("stream, partial_images, seed, negative_prompt, ");
    expect(named.response.headers.has("x-evil")).toBe(false);
    for (const name of ["moderation", "user", "style"]) expect(header).not.toContain(name);
  });

  test("a background that the model does not offer is named; `auto` and qualities are not", async () => {
    const namedBy = async (fields: object) =>
      (await generatePicture(fields)).response.headers.get("x-gateway-ignored-params");
    const model = "sandbox-c";
    expect(await namedBy({ model, background: "transparent", quality: "ultra" })).toBe("background");
    expect(await namedBy({ model, background: "opaque", seed: 1 })).toBe("seed, background");
    expect(await namedBy({ model, background: "auto", quality: "high" })).toBeNull();
    expect(await namedBy({ background: "opaque" })).toBeNull();
    const long = decodeURIComponent((await namedBy({ ["x字".repeat(20)]: 1 }))!);
    expect("x字".repeat(20)).toStartWith(long);
    expect(long.length).toBeGreaterThan(10);
  });

  test("families without qualities ignore them", async () => {
    for (const model of ["sandbox-b-fast", "sandbox-c", "sandbox-d-fast"]) {
      await generatePicture({ model, quality: "ultra", background: "transparent" });
    }
  });
});

describe("each family of the sandbox generates its stated size and bills its tier", () => {
  test.each([
    ["sandbox-a", "1024x1536", "1K"],
    ["sandbox-a", "2K", "2K"],
    ["sandbox-a-flare", "1K", "1K"],
    ["sandbox-b-fast", "2K", "2K"],
    ["sandbox-b-quality", "1K", "1K"],
    ["sandbox-b-lite", "4K", "1K"],
    ["sandbox-c", "1024x1024", "1K"],
    ["sandbox-d-quality", "2K", "2K"],
  ])("%s at %s is tier %s", async (model, size, tier) => {
    const requestId = `family-${model}-${size}`;
    const { picture } = await generatePicture({ model, size, output_format: "jpeg" }, requestId);
    const header = await readImageHeader(await (await fetch(picture.data[0]!.url!)).blob());
    expect(`${header.width}x${header.height}`).toBe(picture.size);
    expect(header.format).toBe("jpeg");
    const [row] = await fixture.gateway.charged(requestId);
    expect(row).toMatchObject({ consumed: { unit: "image", count: 1, tier }, model });
    const lookup = await fixture.gateway.call(
      `/v1/pricing/lookup?${new URLSearchParams({ model, size, quality: picture.quality })}`,
    );
    const price = (await lookup.json()) as { total: string; tier: string };
    expect(price.tier).toBe(tier);
    expect(row!.amount).toBe(nanos(price.total));
  });
});

describe("the delivery of pictures", () => {
  test.each([
    ["url", ["url"]],
    ["b64_json", ["b64_json"]],
    [undefined, ["url"]],
  ])("response_format %p gives %p", async (response_format, keys) => {
    const { picture, response } = await generatePicture({ response_format, n: 2 });
    expect(picture.data.map((entry) => Object.keys(entry))).toEqual([keys, keys]);
    expect(response.headers.get("x-gateway-generated-images")).toBe("2");
  });

  test("the organization's setting overrides response_format", async () => {
    const keysFor = async (response_format?: string) =>
      Object.keys((await generatePicture({ model: "sandbox-a", response_format })).picture.data[0]!).sort();
    await fixture.gateway.cli("orgs", "set", "default", "--force-image-urls", "on");
    await until("on", async () => ((await keysFor("b64_json")).join() === "url" ? true : undefined));
    expect(await keysFor()).toEqual(["url"]);
    expect(await keysFor("url")).toEqual(["url"]);
    await fixture.gateway.cli("orgs", "set", "default", "--force-image-urls", "off");
    await until("off", async () => ((await keysFor()).join() === "b64_json,url" ? true : undefined));
    expect(await keysFor("b64_json")).toEqual(["b64_json"]);
    expect(await keysFor("url")).toEqual(["url"]);
  }, 20_000);

  test("a link is valid for its picture only, private, and has the right content type", async () => {
    const { picture } = await generatePicture({ output_format: "webp" });
    const link = new URL(picture.data[0]!.url!);
    const good = await fetch(link);
    expect(good.headers.get("content-type")).toBe("image/webp");
    expect(good.headers.get("x-content-type-options")).toBe("nosniff");
    expect(good.headers.get("content-security-policy")).toContain("default-src 'none'");
    const bytes = await good.bytes();
    const part = await fetch(link, { headers: { range: "bytes=0-9" } });
    expect(part.status).toBe(206);
    expect(await part.bytes()).toEqual(bytes.slice(0, 10));
    expect((await fetch(link, { method: "HEAD" })).headers.get("content-length")).toBe(String(bytes.length));
    for (const [name, value] of [
      ["sig", "x"],
      ["exp", "9999999999"],
    ] as const) {
      const forged = new URL(link);
      forged.searchParams.set(name, value);
      const response = await fetch(forged);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
    }
    const bare = await fetch(`${link.origin}${link.pathname}`);
    expect(bare.status).toBe(404);
  });
});

/** Converts a decimal amount to nano-units. */
function nanos(amount: string): bigint {
  const [integer = "0", fraction = ""] = amount.split(".");
  return BigInt(integer) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}
