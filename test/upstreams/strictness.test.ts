import { describe, expect, test } from "bun:test";
import { makePng } from "../support/pictures.ts";
import { SIMULATED_KEY as BFL_KEY, startBfl } from "./bfl.ts";
import { SIMULATED_KEY as DASHSCOPE_KEY, startDashscope } from "./dashscope.ts";
import { SIMULATED_KEY as FAL_KEY, startFal } from "./fal.ts";
import { SIMULATED_KEY as OPENROUTER_KEY, startOpenRouter } from "./openrouter.ts";
import { SIMULATED_KEY as REPLICATE_KEY, startReplicate } from "./replicate.ts";
import type { Simulator } from "./simulator.ts";

/** A simulator with a call that it accepts and with calls that it refuses. */
interface Subject {
  name: string;
  start(): Promise<Simulator>;
  path: string;
  credential: Record<string, string>;
  right: object;
  wrong: object[];
}

const png = makePng(16, 16).toString("base64");
const link = `data:image/png;base64,${png}`;
const qwen = (parameters: object, content: object[] = [{ text: "a" }], model = "qwen-image-2.0") => ({
  model,
  input: { messages: [{ role: "user", content }] },
  parameters,
});

const SUBJECTS: Subject[] = [
  {
    name: "bfl",
    start: startBfl,
    path: "/v1/flux-2-pro",
    credential: { "x-key": BFL_KEY },
    right: { prompt: "a", width: 64, height: 64, input_image: png },
    wrong: [
      { prompt: "a", n: 2 },
      { prompt: "a", aspect_ratio: "1:1" },
      { prompt: "a", width: 1000 },
      { prompt: "a", width: 48 },
      { prompt: "a", width: 4096, height: 4096 },
      { prompt: "a", output_format: "webp" },
      { prompt: "a", safety_tolerance: 6 },
      { prompt: "a", input_image: link },
      { prompt: "a", input_image: "aGVsbG8=" },
      { width: 64 },
    ],
  },
  {
    name: "bfl's older models",
    start: startBfl,
    path: "/v1/flux-kontext-pro",
    credential: { "x-key": BFL_KEY },
    right: { prompt: "a", aspect_ratio: "21:9", output_format: "webp" },
    wrong: [
      { prompt: "a", width: 1024 },
      { prompt: "a", aspect_ratio: "3:1" },
      { prompt: "a", input_image_5: png },
    ],
  },
  {
    name: "fal",
    start: startFal,
    path: "/fal-ai/flux-pro/kontext",
    credential: { authorization: `Key ${FAL_KEY}` },
    right: { prompt: "a", image_url: link },
    wrong: [
      { prompt: "a" },
      { prompt: "a", image_urls: [link] },
      { prompt: "a", image_url: png },
      { prompt: "a", image_url: link.replace("png", "jpeg") },
      { prompt: "a", image_url: link, num_images: 5 },
      { prompt: "a", image_url: link, aspect_ratio: "5:4" },
      { prompt: "a", image_url: link, image_size: { width: 512, height: 512 } },
      { prompt: "a", image_url: link, output_format: "webp" },
    ],
  },
  {
    name: "replicate",
    start: startReplicate,
    path: "/v1/models/black-forest-labs/flux-2-pro/predictions",
    credential: { authorization: `Bearer ${REPLICATE_KEY}` },
    right: { input: { prompt: "a", input_images: [link], aspect_ratio: "match_input_image" } },
    wrong: [
      { prompt: "a" },
      { input: { prompt: "a", aspect_ratio: "21:9" } },
      { input: { prompt: "a", resolution: "2K" } },
      { input: { prompt: "a", output_format: "jpeg" } },
      { input: { prompt: "a", input_image: link } },
      { input: { prompt: "a", input_images: [png] } },
      { version: "1", input: { prompt: "a" } },
    ],
  },
  {
    name: "dashscope",
    start: startDashscope,
    path: "/api/v1/services/aigc/multimodal-generation/generation",
    credential: { authorization: `Bearer ${DASHSCOPE_KEY}` },
    right: qwen({ size: "1024*1024", n: 1 }, [{ image: link }, { text: "a" }]),
    wrong: [
      qwen({ size: "1024x1024" }),
      qwen({ size: "256*256" }),
      qwen({ n: 7 }),
      qwen({ response_format: "b64_json" }),
      qwen({}, [{ text: "a" }, { text: "b" }]),
      qwen({}, [...Array.from({ length: 4 }, () => ({ image: link })), { text: "a" }]),
      qwen({}, [{ image: png }, { text: "a" }]),
      qwen({}, [{ text: "a" }], "qwen-image-edit-plus"),
      qwen({ size: "1000*1000" }, [{ image: link }, { text: "a" }], "qwen-image-edit-plus"),
      qwen({ n: 2 }, [{ image: link }, { text: "a" }], "qwen-image-edit"),
    ],
  },
  {
    name: "openrouter",
    start: startOpenRouter,
    path: "/api/v1/images",
    credential: { authorization: `Bearer ${OPENROUTER_KEY}` },
    right: { model: "black-forest-labs/flux.2-pro", prompt: "a", resolution: "1K", aspect_ratio: "1:1" },
    wrong: [
      { model: "black-forest-labs/flux.2-pro", prompt: "a", n: 2 },
      { model: "black-forest-labs/flux.2-pro", prompt: "a", resolution: "1k" },
      { model: "black-forest-labs/flux.2-pro", prompt: "a", resolution: "1K", size: "1024x1024" },
      { model: "black-forest-labs/flux.2-pro", prompt: "a", response_format: "b64_json" },
      { model: "black-forest-labs/flux.2-pro", prompt: "a", output_compression: 50 },
      { model: "black-forest-labs/flux.2-pro", prompt: "a", input_references: [link] },
    ],
  },
];

describe.each(SUBJECTS)("the simulated $name", ({ start, path, credential, right, wrong }) => {
  test("takes a right call and refuses each wrong one, wrong keys, forms and paths", async () => {
    await using vendor = await start();
    const call = async (body: object | FormData, headers = credential, at = path) => {
      const isForm = body instanceof FormData;
      const response = await fetch(vendor.url + at, {
        method: "POST",
        headers: isForm ? headers : { ...headers, "content-type": "application/json" },
        body: isForm ? body : JSON.stringify(body),
      });
      await response.body?.cancel();
      return response.status;
    };
    expect([200, 201]).toContain(await call(right));
    for (const body of wrong) {
      const status = await call(body);
      expect({ body, isRefused: status === 400 || status === 422 }).toEqual({ body, isRefused: true });
    }
    const form = new FormData();
    form.set("prompt", "a");
    expect([400, 422]).toContain(await call(form));
    const denied = Object.fromEntries(Object.keys(credential).map((name) => [name, "wrong"]));
    expect([401, 403]).toContain(await call(right, denied));
    expect(await call(right, credential, "/v1/elsewhere")).toBe(404);
    expect(vendor.totals.received).toBe(wrong.length + 4);
  });
});
