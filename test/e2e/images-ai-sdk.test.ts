import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateImage } from "ai";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { makePng } from "../support/pictures.ts";
import { filesOf } from "../support/images-forms.ts";
import { openImageFixture, type ImageFixture } from "./images-vendors.ts";

/*
 * The unmodified Vercel AI SDK with its provider for compatible services. The SDK reads only base64, which its provider
 * options request in the body.
 */
let fixture: ImageFixture;
let images: ReturnType<typeof createOpenAICompatible>;

beforeAll(async () => {
  fixture = await openImageFixture();
  images = createOpenAICompatible({
    name: "gateway",
    baseURL: `${fixture.gateway.url}/v1`,
    apiKey: fixture.gateway.key,
  });
});
afterEach(() => fixture.reset());
afterAll(() => fixture[Symbol.asyncDispose]());

const inline = { response_format: "b64_json" };

test("a generation returns the requested size and number of pictures", async () => {
  const { images: pictures } = await generateImage({
    model: images.imageModel("gpt-image-2"),
    prompt: "a harbour at dawn",
    n: 2,
    size: "1536x1024",
    providerOptions: { gateway: { ...inline, quality: "low" } },
  });
  expect(pictures).toHaveLength(2);
  for (const { uint8Array } of pictures) {
    const { width, height } = await new Bun.Image(uint8Array).metadata();
    expect({ width, height }).toEqual({ width: 1536, height: 1024 });
  }
  expect(fixture.hits()).toBe(1);
});

test("tier and ratio are sent as provider options to other families", async () => {
  const { image } = await generateImage({
    model: images.imageModel("gemini-3.1-flash-image"),
    prompt: "wide",
    providerOptions: { gateway: { ...inline, size: "2K", aspectRatio: "16:9" } },
  });
  const { width, height } = await new Bun.Image(image.uint8Array).metadata();
  expect({ width, height }).toEqual({ width: 2752, height: 1536 });
});

test("an edit sends its pictures in order, byte for byte", async () => {
  const pictures = [makePng(40, 30), makePng(41, 30)];
  const { image } = await generateImage({
    model: images.imageModel("gpt-image-2"),
    prompt: { text: "join them", images: pictures },
    providerOptions: { gateway: inline },
  });
  expect(image.uint8Array.byteLength).toBeGreaterThan(0);
  const sent = await filesOf(fixture.vendors.openai.hits[0]!);
  expect(sent.map(([, bytes]) => bytes)).toEqual(pictures);
});
