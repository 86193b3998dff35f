import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePng } from "../support/pictures.ts";
import { SIMULATED_KEY, startAzure } from "./azure.ts";
import type { Simulator } from "./simulator.ts";

const GENERATIONS = "/openai/v1/images/generations?api-version=preview";
const EDITS = "/openai/v1/images/edits?api-version=preview";
const CHAT = "/openai/v1/chat/completions";
let vendor: Simulator;

beforeAll(async () => {
  vendor = await startAzure();
});
afterAll(() => vendor.close());

function post(path: string, body: object | FormData, headers: object = {}): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`${vendor.url}${path}`, {
    method: "POST",
    headers: {
      "api-key": SIMULATED_KEY,
      ...(!isForm && { "content-type": "application/json" }),
      ...headers,
    },
    body: isForm ? body : JSON.stringify({ model: "gpt-image-2", prompt: "a boat", ...body }),
  });
}

function form(field: string, type: string): FormData {
  const form = new FormData();
  form.set("model", "gpt-image-2");
  form.set("prompt", "a boat");
  form.set(field, new File([new Uint8Array(makePng(16, 16))], `a.${type}`, { type: `image/${type}` }));
  return form;
}

describe("the simulated resource refuses", () => {
  const chat = { prompt: undefined, model: "gpt-5.4", messages: [{ role: "user", content: "hi" }] };
  const classic = "/openai/deployments/gpt-image-2/images/generations";
  const rows: [string, () => Promise<Response>, number, string][] = [
    ["no key", () => post(GENERATIONS, {}, { "api-key": "" }), 401, "401"],
    ["a bearer", () => post(GENERATIONS, {}, { authorization: "Bearer x" }), 401, "401"],
    ["a dated version on v1", () => post(CHAT.concat("?api-version=2024-10-21"), chat), 400, "BadRequest"],
    ["no version on the classic surface", () => post(classic, {}), 404, "404"],
    ["preview there", () => post(`${classic}?api-version=preview`, {}), 404, "404"],
    ["OpenAI's own path", () => post("/v1/images/generations", {}), 404, "404"],
    ["an unknown deployment", () => post(GENERATIONS, { model: "x" }), 404, "DeploymentNotFound"],
    ["chat at an image deployment", () => post(CHAT, { model: "gpt-image-2" }), 400, "OperationNotSupported"],
    ["webp", () => post(GENERATIONS, { output_format: "webp" }), 400, "invalid_value"],
    ["a response format", () => post(GENERATIONS, { response_format: "url" }), 400, "unknown_parameter"],
    ["a size off the grid", () => post(GENERATIONS, { size: "1000x1000" }), 400, "invalid_value"],
    ["a webp file", () => post(EDITS, form("image[]", "webp")), 400, "unsupported_file_mimetype"],
    ["a lone file", () => post(EDITS, form("image", "png")), 400, "unknown_parameter"],
  ];
  test.each(rows)("%s", async (_, send, status, code) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });
});

test("the simulated resource serves both surfaces, and v1 without a version", async () => {
  const classic = "/openai/deployments/gpt-image-2/images/generations?api-version=2025-04-01-preview";
  for (const path of [GENERATIONS, "/openai/v1/images/generations", classic])
    expect((await post(path, { output_format: "jpeg" })).status).toBe(200);
  expect((await post(EDITS, form("image[]", "png"))).status).toBe(200);
});
