import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makeBmp, makePng } from "../support/pictures.ts";
import type { Simulator } from "./simulator.ts";
import { SIMULATED_KEY, startXai } from "./xai.ts";

const PICTURE = { url: `data:image/png;base64,${makePng(20, 20).toString("base64")}`, type: "image_url" };
const BMP = { url: `data:image/bmp;base64,${makeBmp(20, 20).toString("base64")}`, type: "image_url" };
let vendor: Simulator;

beforeAll(async () => {
  vendor = await startXai();
});
afterAll(() => vendor.close());

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${vendor.url}/v1/images/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${SIMULATED_KEY}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "grok-imagine-image", prompt: "a boat", ...body }),
  });
}

describe("the simulated vendor refuses", () => {
  const rows: [string, string, object, number][] = [
    ["a size", "generations", { size: "1024x1024" }, 400],
    ["a mask", "edits", { image: PICTURE, mask: PICTURE }, 400],
    ["an upper-case resolution", "generations", { resolution: "2K" }, 422],
    ["an unknown ratio", "generations", { aspect_ratio: "21:9" }, 422],
    ["too many pictures", "generations", { n: 11 }, 422],
    ["a count that is a word", "generations", { n: "2" }, 422],
    ["no prompt", "generations", { prompt: "" }, 400],
    ["a quality on the older model", "generations", { quality: "medium" }, 400],
    ["a high quality", "generations", { model: "grok-imagine-image-2.0", quality: "high" }, 400],
    ["an edit without an image", "edits", {}, 400],
    ["one image and several", "edits", { image: PICTURE, images: [PICTURE] }, 400],
    ["too many images", "edits", { images: [PICTURE, PICTURE, PICTURE, PICTURE] }, 400],
    ["an image in another format", "edits", { image: BMP }, 400],
    ["an image that is a bare string", "edits", { image: PICTURE.url }, 400],
    ["an unknown model", "generations", { model: "nobody" }, 404],
    ["an unknown path", "variations", {}, 404],
  ];
  test.each(rows)("%s", async (_, path, body, status) => {
    expect((await post(path, body)).status).toBe(status);
  });

  test("a form, and a wrong key as if it were the caller's mistake", async () => {
    expect((await post("edits", {}, { "content-type": "multipart/form-data; boundary=x" })).status).toBe(415);
    expect((await post("generations", {}, { authorization: "Bearer x" })).status).toBe(400);
  });
});

test("the simulated vendor keeps the shape of a single image whatever ratio is requested", async () => {
  const sizeOf = async (body: object) => {
    const response = await post("edits", { response_format: "b64_json", aspect_ratio: "16:9", ...body });
    const { data } = (await response.json()) as { data: { b64_json: string }[] };
    const { width, height } = await new Bun.Image(Buffer.from(data[0]!.b64_json, "base64")).metadata();
    return `${width}x${height}`;
  };
  expect(await sizeOf({ image: PICTURE })).toBe("1024x1024");
  expect(await sizeOf({ images: [PICTURE, PICTURE] })).toBe("1360x768");
});
