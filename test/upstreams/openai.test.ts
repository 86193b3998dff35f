import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { makePng } from "../support/pictures.ts";
import { SIMULATED_KEY, startOpenAi } from "./openai.ts";
import { readMarker } from "./behaviour.ts";
import type { Simulator } from "./simulator.ts";

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startOpenAi();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${vendor.url}/v1/${path}`, {
    method: "POST",
    body: body instanceof FormData ? body : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${SIMULATED_KEY}`,
      ...(!(body instanceof FormData) && { "content-type": "application/json" }),
      ...headers,
    },
  });
const chat = (body: object) =>
  post("chat/completions", { model: "gpt-5.4", messages: [{ role: "user", content: "hi" }], ...body });
const picture = (body: object) =>
  post("images/generations", { model: "gpt-image-2", prompt: "a boat", ...body });

function edit(parts: Record<string, string | File | File[]>): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "gpt-image-2", prompt: "a boat", ...parts }))
    for (const item of [value].flat()) form.append(name, item);
  return post("images/edits", form);
}

const file = (type: string, name = "a.png") => new File([makePng(16, 16)], name, { type });

describe("the simulated vendor refuses", () => {
  const rows: [string, () => Promise<Response>, number, string | null][] = [
    ["a wrong key", () => post("chat/completions", {}, { authorization: "Bearer no" }), 401, null],
    ["an unknown address", () => post("completions", {}), 404, null],
    ["an unknown model", () => chat({ model: "gpt-0" }), 404, null],
    ["an unknown chat field", () => chat({ provider: "x" }), 400, "provider"],
    ["stream options without a stream", () => chat({ stream_options: {} }), 400, "stream_options"],
    ["no messages", () => chat({ messages: [] }), 400, "messages"],
    ["an unknown role", () => chat({ messages: [{ role: "robot" }] }), 400, "messages[0].role"],
    ["a response format on images", () => picture({ response_format: "url" }), 400, "response_format"],
    ["too many images", () => picture({ n: 11 }), 400, "n"],
    ["a count in quotes", () => picture({ n: "2" }), 400, "n"],
    ["a size off the grid", () => picture({ size: "1000x1000" }), 400, "size"],
    ["a size too small", () => picture({ size: "512x512" }), 400, "size"],
    ["a size too large", () => picture({ size: "3840x3840" }), 400, "size"],
    ["a size too long", () => picture({ size: "3840x1024" }), 400, "size"],
    ["a tier as size", () => picture({ size: "2K" }), 400, "size"],
    ["a quality of another model", () => picture({ quality: "xhigh" }), 400, "quality"],
    ["compression of png", () => picture({ output_compression: 50 }), 400, "output_compression"],
    ["an edit without image", () => edit({}), 400, "image"],
    ["a text as image", () => edit({ image: "no file" }), 400, "image[0]"],
    ["an untyped file", () => edit({ image: file("application/octet-stream") }), 400, "image[0]"],
    ["several files as image", () => edit({ image: [file("image/png"), file("image/png")] }), 400, "image"],
    ["an unknown form field", () => edit({ image: file("image/png"), size2: "1" }), 400, "size2"],
  ];
  test.each(rows)("%s", async (_, send, status, param) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: object }).error).toMatchObject({ param });
    expect(vendor.totals).toMatchObject({ received: 1, delivered: 0, usages: [] });
  });
});

describe("the simulated vendor", () => {
  test.each([
    ["gpt-image-2", "2048x1152", "high", 5650],
    ["gpt-image-2", "1024x1024", "low", 196],
    ["gpt-image-2.5-flare", "1536x1024", "xhigh", 2459],
    ["gpt-image-2.5-sunburst", "3840x2160", "medium", 865],
  ])("counts the tokens of %s at %s %s as %d", async (model, size, quality, tokens) => {
    const response = await picture({ model, size, quality, output_format: "jpeg" });
    expect(await response.json()).toMatchObject({ size, quality, usage: { output_tokens: tokens } });
  });

  test("does what a marker in the prompt says, but what is queued first", async () => {
    vendor.next("insufficient-quota");
    const content = "hello [[rate-limited retryAfter=7]]";
    const messages = [{ role: "user", content }];
    expect((await chat({ messages })).headers.get("retry-after")).toBeNull();
    expect((await chat({ messages })).headers.get("retry-after")).toBe("7");
    expect(
      await (await chat({ messages: [{ role: "user", content: "[[reply tokens=3]]" }] })).text(),
    ).toContain('"completion_tokens":3');
    expect(() => readMarker("[[no-such-fault]]")).toThrow("no-such-fault");
  });

  test("cuts a response at max_tokens", async () => {
    const text = await (await chat({ max_completion_tokens: 2 })).text();
    expect(text).toContain('"finish_reason":"length"');
    expect(text).toContain('"completion_tokens":2');
  });

  test.each([
    ["cr", /^(data: [^\r\n]*\r\r)+$/],
    ["crlf", /^(data: [^\r\n]*\r\n\r\n)+$/],
    ["no-space", /^(data:[^ \n][^\n]*\n\n)+$/],
    ["comments", /^: waiting/],
  ] as const)("writes its stream with %s", async (fault, shape) => {
    vendor.next(fault);
    expect(await (await chat({ stream: true })).text()).toMatch(shape);
  });

  test("counts a broken stream as received, not as delivered, and no disconnect of the client", async () => {
    vendor.next("reset-midway", "close-midway", "truncated");
    for (let index = 0; index < 3; index += 1) await (await chat({ stream: true })).text().catch(() => "");
    expect(vendor.totals).toMatchObject({ received: 3, usages: [] });
    expect(vendor.closedAt).toBeNull();
  });

  test("sends frames at the given pace", async () => {
    vendor.next({ frames: 5, tokens: 5, frameDelayMs: 10 });
    const startedAt = performance.now();
    await (await chat({ stream: true })).text();
    expect(performance.now() - startedAt).toBeGreaterThan(60);
  });
});
