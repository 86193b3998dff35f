import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { BadRequestError, toFile } from "openai-6";
import { makePng } from "../support/pictures.ts";
import { openImageFixture, type ImageFixture } from "./images-vendors.ts";

/* The unmodified official client with the real program and a strict simulated vendor. */
const MODEL = "gpt-image-2";

let fixture: ImageFixture;
let client: OpenAI;

beforeAll(async () => {
  fixture = await openImageFixture();
  client = new OpenAI({ baseURL: `${fixture.gateway.url}/v1`, apiKey: fixture.gateway.key, maxRetries: 0 });
});
afterEach(() => fixture.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

describe("images.generate", () => {
  test("returns links by default, and the settings in effect", async () => {
    const reply = await client.images.generate({ model: MODEL, prompt: "码头的清晨", quality: "low" });
    expect(reply).toMatchObject({ size: "1024x1024", quality: "low", output_format: "png" });
    expect(reply.background).toBe("opaque");
    expect(reply.usage!.total_tokens).toBe(reply.usage!.input_tokens + reply.usage!.output_tokens);
    expect(reply.data![0]!.b64_json).toBeUndefined();
    expect(await measureLink(reply.data![0]!.url!)).toMatchObject({
      width: 1024,
      height: 1024,
      format: "png",
    });
    expect(fixture.vendors.openai.hits[0]!.json()["prompt"]).toBe("码头的清晨");
  });

  test("returns base64 in the requested number, size, format and compression", async () => {
    const { data: reply, response } = await client.images
      .generate({
        model: MODEL,
        prompt: "two boats",
        n: 2,
        size: "1536x1024",
        output_format: "webp",
        output_compression: 40,
        response_format: "b64_json",
      })
      .withResponse();
    expect(response.headers.get("x-gateway-generated-images")).toBe("2");
    expect(response.headers.has("x-image-count-degraded")).toBe(false);
    expect(response.headers.get("x-request-id")).toBe(response.headers.get("x-gateway-request-id"));
    expect(reply.data).toHaveLength(2);
    for (const image of reply.data!) {
      expect(Object.keys(image)).toEqual(["b64_json"]);
      const bytes = Buffer.from(image.b64_json!, "base64");
      expect(await measure(bytes)).toEqual({ width: 1536, height: 1024, format: "webp" });
    }
    expect(fixture.vendors.openai.hits[0]!.json()).not.toHaveProperty("response_format");
  });

  test("ignores documented fields and names unknown ones", async () => {
    const { response } = await client.images
      .generate({
        model: MODEL,
        prompt: "quiet",
        quality: "low",
        moderation: "low",
        user: "u-1",
        style: "vivid",
        partial_images: 2,
        ...({ seed: 7 } as object),
      })
      .withResponse();
    expect(response.headers.get("x-gateway-ignored-params")).toBe("partial_images, seed");
  });

  test("accepts the gateway's own fields beside the client's", async () => {
    const body = { model: "gemini-3.1-flash-image", prompt: "wide", size: "2K", aspectRatio: "16:9" };
    const reply = await client.images.generate(
      body as unknown as OpenAI.Images.ImageGenerateParamsNonStreaming,
    );
    expect(reply.size as string).toBe("2752x1536");
    expect(await measureLink(reply.data![0]!.url!)).toMatchObject({ width: 2752, height: 1536 });
  });
});

describe("images.edit", () => {
  const pictures = [makePng(40, 30), makePng(41, 30), makePng(42, 30)];

  test("of one upload sends the vendor one file with its bytes", async () => {
    const image = await toFile(pictures[0]!, "one.png", { type: "image/png" });
    const reply = await client.images.edit({ model: MODEL, prompt: "brighter", image });
    expect(reply.data![0]!.url).toStartWith(`${fixture.gateway.url}/files/`);
    const [files, fields] = await sentForm(fixture);
    expect(files).toEqual([["image", pictures[0]!]]);
    expect(fields).toMatchObject({ model: MODEL, prompt: "brighter", n: "1" });
  });

  test("of a list of one sends a single image field", async () => {
    const image = [await toFile(pictures[0]!, "one.png")];
    await client.images.edit({ model: MODEL, prompt: "brighter", image });
    expect((await sentForm(fixture))[0]).toEqual([["image", pictures[0]!]]);
  });

  test("of several uploads keeps order and bytes", async () => {
    const image = await Promise.all(pictures.map((bytes, index) => toFile(bytes, `图 ${3 - index}.png`)));
    const reply = await client.images.edit({
      model: MODEL,
      prompt: "join 1, 2 and 3",
      image,
      n: 2,
      size: "1024x1536",
      quality: "medium",
      response_format: "b64_json",
    });
    expect((await sentForm(fixture))[0]).toEqual(pictures.map((bytes) => ["image[]", bytes]));
    expect(reply.data!.map(({ b64_json }) => b64_json!.length > 0)).toEqual([true, true]);
    expect(reply).toMatchObject({ size: "1024x1536", quality: "medium" });
  });

  test("with a mask sends it beside the image", async () => {
    const mask = makePng(40, 30, { pixel: (x) => [0, 0, 0, x < 20 ? 0 : 255] });
    await client.images.edit({
      model: MODEL,
      prompt: "fill the left",
      image: await toFile(pictures[0]!, "one.png"),
      mask: await toFile(mask, "mask.png"),
    });
    expect((await sentForm(fixture))[0]).toEqual([
      ["image", pictures[0]!],
      ["mask", mask],
    ]);
  });

  test("with the compression header sends smaller references of the same format and size", async () => {
    const noise = makePng(400, 300, {
      pixel: (x, y) => [(x * y * 31) & 255, (x * x + y) & 255, (y * 97) & 255, 255],
    });
    const large = Buffer.from(await new Bun.Image(noise).jpeg({ quality: 100 }).bytes());
    const image = await toFile(large, "large.jpg");
    const headers = { "x-input-image-compress": "true" };
    await client.images.edit({ model: MODEL, prompt: "smaller", image }, { headers });
    const sent = (await sentForm(fixture))[0][0]![1];
    expect(sent.byteLength).toBeLessThan(large.byteLength);
    expect(await measure(sent)).toEqual({ width: 400, height: 300, format: "jpeg" });
  });

  test("with too many images is a bad request that costs nothing", async () => {
    const image = await Promise.all(Array.from({ length: 17 }, () => toFile(pictures[0]!, "a.png")));
    const error = await client.images
      .edit({ model: MODEL, prompt: "x", image })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: "too_many_reference_images", param: "image", type: "bad_request" });
    expect((error as Error).message).toContain("16");
    expect(fixture.hits()).toBe(0);
  });
});

async function measure(bytes: Uint8Array): Promise<{ width: number; height: number; format: string }> {
  const { width, height, format } = await new Bun.Image(bytes).metadata();
  return { width, height, format };
}

async function measureLink(url: string): Promise<{ width: number; height: number; format: string }> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return measure(await response.bytes());
}

/** Returns the files and texts of the last form that the vendor received. */
async function sentForm({
  vendors,
}: ImageFixture): Promise<[files: [string, Buffer][], fields: Record<string, string>]> {
  const { body, headers } = vendors.openai.hits.at(-1)!;
  const files: [string, Buffer][] = [];
  const fields: Record<string, string> = {};
  for (const [name, value] of await new Response(body, { headers }).formData())
    if (typeof value === "string") fields[name] = value;
    else files.push([name, Buffer.from(await value.bytes())]);
  return [files, fields];
}
