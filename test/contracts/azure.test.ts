import { textOf } from "../support/bytes.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readReply } from "../../src/dialects/chat/forward.ts";
import { openStream } from "../../src/dialects/chat/stream.ts";
import { policyFor } from "../support/usage-policy.ts";
import { azure } from "../../src/providers/azure/index.ts";
import { azureSettings, callAzure } from "../support/azure-calls.ts";
import { imageModel, describeImages, pngReference, shippedSettings } from "../support/image-calls.ts";
import { makeGif } from "../support/pictures.ts";
import { SIMULATED_KEY, startAzure } from "../upstreams/azure.ts";
import type { Hit, Simulator } from "../upstreams/simulator.ts";

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startAzure();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const SURFACES = [
  ["v1", "/openai/v1", "/openai/v1", "v1"],
  ["classic", "/openai/deployments/gpt-5.4", "/openai/deployments/gpt-image-2", "2025-04-01-preview"],
] as const;

describe.each(SURFACES)("the surface %s", (surface, chatPath, imagePath, version) => {
  const calls = () => callAzure(vendor.url, { surface });

  test("sends a generation as documented, with the key in `api-key`", async () => {
    const reply = await calls().generate({
      requestedSize: { kind: "tier", tier: "1K", ratio: "16:9" },
      quality: "low",
      background: "opaque",
      format: "jpeg",
      compression: 60,
      count: 2,
    });
    const hit = vendor.hits[0]!;
    const body =
      '{"model":"gpt-image-2","prompt":"a red fox","n":2,"size":"1280x720","quality":"low",' +
      '"background":"opaque","output_format":"jpeg","output_compression":60}';
    expect(hit.body.toString("utf8")).toBe(body);
    expect(addressOf(hit)).toBe(`${imagePath}/images/generations?api-version=${version}`);
    expect(hit.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      "api-key": SIMULATED_KEY,
      connection: "keep-alive",
      "content-length": String(Buffer.byteLength(body)),
      "content-type": "application/json",
      host: hit.headers["host"]!,
      "user-agent": "model-inference-gateway",
    });
    expect(await describeImages(reply)).toEqual(["1280x720 jpeg", "1280x720 jpeg"]);
    expect(reply).toMatchObject({ quality: "low", background: "opaque", usage: { input: 3 } });
  });

  test("sends an edit as a form whose files are always a list", async () => {
    const reply = await calls().generate({ references: [pngReference()], mask: pngReference() });
    const hit = vendor.hits[0]!;
    expect(addressOf(hit)).toBe(`${imagePath}/images/edits?api-version=${version}`);
    expect(hit.headers).toMatchObject({ "api-key": SIMULATED_KEY, accept: "application/json" });
    expect(hit.headers["content-length"]).toBe(String(hit.body.byteLength));
    expect((await readForm(hit)).map(([name, value]) => [name, describePart(value)])).toEqual([
      ["model", "gpt-image-2"],
      ["prompt", "a red fox"],
      ["n", "1"],
      ["image[]", "image-1.png image/png"],
      ["mask", "mask.png image/png"],
    ]);
    expect(reply.images).toHaveLength(1);
  });

  test("sends the exact bytes of a chat request to the deployment in them", async () => {
    const response = await calls().chat({ temperature: 0.5 });
    const hit = vendor.hits[0]!;
    expect(addressOf(hit)).toBe(`${chatPath}/chat/completions?api-version=${version}`);
    expect(hit.json()).toEqual({
      model: "gpt-5.4",
      messages: [{ role: "user", content: "hi" }],
      temperature: 0.5,
    });
    expect(hit.headers).toMatchObject({ "api-key": SIMULATED_KEY, accept: "application/json" });
    expect(hit.headers).not.toHaveProperty("authorization");
    expect(response).toMatchObject({ kind: "whole", parsed: { prompt_filter_results: [{}] } });
    expect(vendor.totals).toMatchObject({ received: 1, delivered: 1, usages: [{ completion_tokens: 8 }] });
  });

  test("passes on a stream whose first frame has no choices", async () => {
    const response = await calls().chat({ stream: true, stream_options: { include_usage: true } });
    if (response.kind !== "stream") throw new Error("not a stream");
    expect(vendor.hits[0]!.headers["accept"]).toBe("text/event-stream");
    const stream = openStream("house-chat", policyFor(100));
    const [first, ...rest] = (await textOf(response.stream)).split(/(?<=\n\n)/);
    const head = Buffer.from(stream.push(Buffer.from(first!))).toString();
    expect(JSON.parse(head.slice(6))).toMatchObject({ choices: [], model: "house-chat" });
    expect(stream.hasContent).toBe(false);
    const later = rest.map((frame) => Buffer.from(stream.push(Buffer.from(frame))).toString());
    const text = later.join("") + Buffer.from(stream.end()).toString();
    expect(text).toContain('"model":"house-chat"');
    expect(text).not.toContain("gpt-5.4");
    expect(text).toContain('"content":"word7 "');
    expect(text.trimEnd().split("\n\n").slice(-2)).toEqual([
      expect.stringContaining('"choices":[],"usage":{'),
      "data: [DONE]",
    ]);
    expect(stream.usage()).toMatchObject({ source: "upstream", tokens: { output: 8 } });
  });
});

describe("an image request", () => {
  test.each([
    ["webp", "png"],
    ["png", "png"],
    ["jpeg", "jpeg"],
    [undefined, undefined],
  ] as const)("for %s requests %s, since the vendor makes no WebP", async (format, requested) => {
    const reply = await callAzure(vendor.url).generate({ format, compression: format && 50 });
    expect(vendor.hits[0]!.json()["output_format"]).toBe(requested!);
    expect(vendor.hits[0]!.json()["output_compression"]).toBe(
      requested === "jpeg" ? 50 : (undefined as never),
    );
    expect(await describeImages(reply)).toEqual([`1024x1024 ${requested ?? "png"}`]);
  });

  test("sends references in order, in formats that the vendor reads", async () => {
    const png = pngReference(40, 20);
    const webp = await new Bun.Image(await pngReference(24, 48).blob.bytes()).webp().blob();
    const gif = new Blob([makeGif(20, 30, 1)]);
    await callAzure(vendor.url).generate({
      references: [
        png,
        { blob: webp, format: "webp", width: 24, height: 48 },
        { blob: gif, format: "gif", width: 20, height: 30 },
      ],
    });
    const form = await readForm(vendor.hits[0]!);
    const files = form.flatMap(([, value]) => (value instanceof File ? [value] : []));
    expect(files.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "image-1.png image/png",
      "image-2.png image/png",
      "image-3.png image/png",
    ]);
    expect(await describeImages({ images: files })).toEqual(["40x20 png", "24x48 png", "20x30 png"]);
    expect(await files[0]!.bytes()).toEqual(await png.blob.bytes());
  });

  test("returns as many images as came, and no usage for an impossible report", async () => {
    vendor.next({ images: 1 }, "no-usage", { usage: { input_tokens: -1, output_tokens: 5 } });
    const { generate } = callAzure(vendor.url);
    expect((await generate({ count: 4 })).images).toHaveLength(1);
    expect((await generate()).usage).toBeUndefined();
    expect((await generate()).usage).toBeUndefined();
  });

  test("reads escaped slashes and a compressed response", async () => {
    vendor.next("escaped-slashes", "gzip");
    const { generate } = callAzure(vendor.url);
    expect(await describeImages(await generate())).toEqual(["1024x1024 png"]);
    expect(await describeImages(await generate())).toEqual(["1024x1024 png"]);
  });
});

test("a whole chat response with reports of the content filter is read normally", async () => {
  const response = await callAzure(vendor.url).chat();
  if (response.kind !== "whole") throw new Error("not whole");
  const reply = readReply(response, "house-chat", policyFor(100));
  expect(JSON.stringify(reply)).not.toContain("gpt-5.4");
});

describe("a channel", () => {
  test("sends its own version instead of the surface's", async () => {
    const classic = callAzure(vendor.url, { surface: "classic", apiVersion: "2026-01-01-preview" });
    await classic.generate();
    await callAzure(vendor.url, { apiVersion: "preview" }).generate();
    expect(vendor.hits.map(({ query }) => query.get("api-version"))).toEqual([
      "2026-01-01-preview",
      "preview",
    ]);
  });

  test.each(["/", "/openai", "/openai/v1", "/openai/v1/"])(
    "may be given the resource's address with %s at its end",
    async (end) => {
      await callAzure(`${vendor.url}${end}`).generate();
      await callAzure(`${vendor.url}${end}`, { surface: "classic" }).generate();
      expect(vendor.totals.delivered).toBe(2);
    },
  );

  test("encodes a deployment's name in the path", async () => {
    const calls = callAzure(vendor.url, { surface: "classic" });
    await calls.chat({ model: "a/b?c" }).catch(() => {});
    expect(vendor.hits[0]!.path).toBe("/openai/deployments/a%2Fb%3Fc/chat/completions");
  });

  test.each([
    [{}, "baseUrl"],
    [{ baseUrl: "my-resource" }, "baseUrl"],
    [{ baseUrl: "https://r.example/openai/v1?api-version=v1" }, "baseUrl"],
    [{ baseUrl: "https://r.example", surface: "v2" }, "surface"],
    [{ baseUrl: "https://r.example", apiVersion: "v1&x=1" }, "apiVersion"],
    [{ baseUrl: "https://r.example", apiKey: "two words" }, "apiKey"],
  ])("with the settings %o is invalid because of %s", (settings, path) => {
    const result = azure.settings.safeParse({ apiKey: SIMULATED_KEY, ...settings });
    expect(result.error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
  });

  test("is shipped without models when both of its variables are set", async () => {
    expect(azureSettings.channels.get("azure")).toMatchObject({
      provider: "azure",
      settings: { baseUrl: "https://my-resource.openai.azure.com", apiKey: SIMULATED_KEY, surface: "v1" },
    });
    const { targets } = imageModel(azureSettings, "gpt-image-2");
    expect(targets.map(({ channel }) => channel.id)).toEqual(["openai"]);
    for (const variable of ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"]) {
      const alone = await shippedSettings({ [variable]: "https://my-resource.openai.azure.com" });
      expect([...alone.channels.keys()]).toEqual(["sandbox"]);
    }
  });
});

function addressOf({ path, query }: Hit): string {
  return `${path}?${query}`;
}

async function readForm({ body, headers }: Hit): Promise<[string, string | File][]> {
  return [...(await new Response(body, { headers }).formData())];
}

function describePart(value: string | File): string {
  return typeof value === "string" ? value : `${value.name} ${value.type}`;
}
