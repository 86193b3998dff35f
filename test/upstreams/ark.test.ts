import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePng } from "../support/pictures.ts";
import { SIMULATED_KEY, startArk } from "./ark.ts";
import type { Simulator } from "./simulator.ts";

const PRO = "doubao-seedream-5-0-pro-260628";
const GROUPS = "doubao-seedream-4-5-251128";
const PICTURE = `data:image/png;base64,${makePng(20, 20).toString("base64")}`;
let vendor: Simulator;

beforeAll(async () => {
  vendor = await startArk();
});
afterAll(() => vendor.close());

function post(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${vendor.url}/api/v3/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${SIMULATED_KEY}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: PRO, prompt: "a boat", size: "1024x1024", ...body }),
  });
}

describe("the simulated vendor refuses", () => {
  const rows: [string, object, number, string][] = [
    ["a count", { n: 2 }, 400, "n"],
    ["a mask", { mask: PICTURE }, 400, "mask"],
    ["a quality", { quality: "high" }, 400, "quality"],
    ["a seed on newer models", { seed: 1 }, 400, "seed"],
    ["no prompt", { prompt: "" }, 400, "prompt"],
    ["too small a size", { size: "512x512" }, 400, "size"],
    ["too large a size", { size: "4096x4096" }, 400, "size"],
    ["too long a size", { size: "8192x500" }, 400, "size"],
    ["a tier of another model", { size: "4K" }, 400, "size"],
    ["a small size on a large model", { size: "1024x1024", model: GROUPS }, 400, "size"],
    ["webp", { output_format: "webp" }, 400, "output_format"],
    ["a format on an older model", { size: "2K", model: GROUPS, output_format: "png" }, 400, "output_format"],
    ["a group on Pro", { sequential_image_generation: "auto" }, 400, "sequential_image_generation"],
    ["a stream on Pro", { stream: false }, 400, "stream"],
    [
      "too large a group",
      {
        size: "2K",
        model: GROUPS,
        image: PICTURE,
        sequential_image_generation: "auto",
        sequential_image_generation_options: { max_images: 15 },
      },
      400,
      "max_images",
    ],
    ["a watermark that is a word", { watermark: "no" }, 400, "watermark"],
    ["too many images", { image: Array(11).fill(PICTURE) }, 400, "image"],
    ["an upper-case type", { image: PICTURE.replace("png", "PNG") }, 400, "image"],
    ["a wrong type", { image: PICTURE.replace("png", "jpeg") }, 400, "image"],
    ["bare base64", { image: PICTURE.slice(22) }, 400, "image"],
    ["a plain link", { image: "http://files.example/1.png" }, 400, "image"],
    ["an unknown model", { model: "seedream-4-5-251128" }, 404, ""],
  ];
  test.each(rows)("%s", async (_, body, status, param) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  test("a form, a wrong key and another path", async () => {
    expect((await post({}, { "content-type": "multipart/form-data; boundary=x" })).status).toBe(400);
    expect((await post({}, { authorization: "Bearer x" })).status).toBe(401);
    const headers = { authorization: `Bearer ${SIMULATED_KEY}` };
    expect((await fetch(`${vendor.url}/api/v3/images/edits`, { method: "POST", headers })).status).toBe(404);
  });

  test("a credential where a link is fetched", async () => {
    const { data } = (await (await post({})).json()) as { data: { url: string }[] };
    const headers = { authorization: `Bearer ${SIMULATED_KEY}` };
    expect((await fetch(data[0]!.url, { headers })).status).toBe(400);
    expect((await fetch(data[0]!.url)).status).toBe(200);
  });
});

test("the simulated vendor returns links by default, and accepts tiers and links", async () => {
  const response = await post({ size: "1.5K", image: "https://files.example/1.png" });
  expect(await response.json()).toMatchObject({ data: [{ url: expect.any(String), size: "1536x1536" }] });
});
