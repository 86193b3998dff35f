import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ApiError, GoogleGenAI, Modality, type GenerateContentResponse } from "@google/genai";
import type { NativeErrorBody } from "../../src/dialects/native/error.ts";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import {
  FAST,
  FREE,
  LITE,
  NANOS,
  openNativeFixture,
  PRO,
  type NativeFixture,
} from "../support/native-gateway.ts";
import { makePng } from "../support/pictures.ts";

/* The unmodified official client, for the built-in sandbox and channels with a simulated vendor. */
let fixture: NativeFixture;
const clientOf = (apiVersion: string, headers: Record<string, string> = {}, apiKey = fixture.gateway.key) =>
  new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl: fixture.gateway.url, headers } });

beforeAll(async () => {
  fixture = await openNativeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => {
  fixture.strict.reset();
  fixture.free.reset();
});

const reference = (width: number, height: number) => ({
  inlineData: { mimeType: "image/png", data: makePng(width, height).toString("base64") },
});

/** Returns the final pictures of the response. */
function picturesOf(reply: GenerateContentResponse) {
  const parts = reply.candidates?.flatMap(({ content }) => content?.parts ?? []) ?? [];
  return parts.filter(({ thought, inlineData }) => thought !== true && inlineData);
}

async function measure({ data }: { data?: string }): Promise<string> {
  const { width, height, format } = await readImageHeader(new Blob([Buffer.from(data!, "base64")]));
  return `${width}x${height} ${format}`;
}

async function failureOf(
  call: Promise<unknown>,
): Promise<{ status: number; error: NativeErrorBody["error"] }> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error("no error of the client's kind");
  const { status, message } = thrown;
  return { status, error: JSON.parse(message).error };
}

describe.each(["v1beta", "v1"])("by %s", (apiVersion) => {
  test.each([
    ["the sandbox", "sandbox-b-fast"],
    ["a vendor", FAST],
  ])("text generates a picture of the requested size on %s", async (_, model) => {
    const requestId = `native-text-${apiVersion}-${model}`;
    const reply = await clientOf(apiVersion, { "X-Request-Id": requestId }).models.generateContent({
      model,
      contents: "A quiet harbour",
      config: {
        responseModalities: [Modality.IMAGE],
        imageConfig: { aspectRatio: "16:9", imageSize: "2K" },
      },
    });
    const [picture, ...others] = picturesOf(reply);
    expect(others).toEqual([]);
    expect(picture!.inlineData!.mimeType).toBe("image/png");
    expect(await measure(picture!.inlineData!)).toBe("2752x1536 png");
    expect(reply).toMatchObject({ modelVersion: model, candidates: [{ finishReason: "STOP", index: 0 }] });
    const { totalTokenCount, promptTokenCount = 0, candidatesTokenCount = 0 } = reply.usageMetadata!;
    expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount);
    const [row, ...more] = await fixture.gateway.charged(requestId);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ kind: "charge", model, consumed: { unit: "image", count: 1, tier: "2K" } });
    if (model === FAST) expect(row!.amount).toBe(NANOS["2K"]);
  });

  test("an edit sends its pictures to the vendor in order, byte for byte", async () => {
    const pictures = [reference(40, 30), reference(300, 200), reference(20, 50)];
    const reply = await clientOf(apiVersion).models.generateContent({
      model: FAST,
      contents: [{ role: "user", parts: [{ text: "Join these" }, ...pictures] }],
    });
    expect(picturesOf(reply)).toHaveLength(1);
    const [hit, ...others] = fixture.strict.hits;
    expect(others).toEqual([]);
    expect(hit!.path).toBe("/v1beta/models/gemini-3.1-flash-image:generateContent");
    expect(hit!.json()).toEqual({
      contents: [{ role: "user", parts: [{ text: "Join these" }, ...pictures] }],
    });
  });
});

test("an edit on the sandbox keeps the requested ratio and uses the reference", async () => {
  const client = clientOf("v1beta");
  const request = (side: number) =>
    client.models.generateContent({
      model: "sandbox-b-quality",
      contents: [{ text: "Make it blue" }, reference(side, side)],
      config: { imageConfig: { aspectRatio: "3:2" } },
    });
  const [small, large] = await Promise.all([request(16), request(64)]);
  expect(await measure(picturesOf(small)[0]!.inlineData!)).toBe("1264x848 png");
  expect(picturesOf(small)[0]!.inlineData!.data).not.toBe(picturesOf(large)[0]!.inlineData!.data);
});

test("a chat sends the earlier picture back as the reference of an edit", async () => {
  const chat = clientOf("v1beta").chats.create({ model: "sandbox-b-fast" });
  await chat.sendMessage({ message: "A lighthouse" });
  const reply = await chat.sendMessage({ message: "Now at night" });
  expect(picturesOf(reply)).toHaveLength(1);
  // One reference counts as 560 tokens in the sandbox.
  expect(reply.usageMetadata!.promptTokenCount).toBeGreaterThan(560);
});

test("a chat returns thought signatures to the vendor unchanged", async () => {
  const data = makePng(64, 64).toString("base64");
  fixture.answerAsConfigured({
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { text: "Here.", thoughtSignature: "c2lnLTE=" },
            { inlineData: { mimeType: "image/png", data }, thoughtSignature: "c2lnLTI=" },
          ],
        },
        finishReason: "STOP",
        index: 0,
      },
    ],
  });
  const chat = clientOf("v1beta").chats.create({ model: FREE });
  await chat.sendMessage({ message: "A lighthouse" });
  await chat.sendMessage({ message: "Now at night" });
  expect(fixture.free.hits[1]!.json()["contents"]).toEqual([
    { role: "user", parts: [{ text: "A lighthouse" }] },
    {
      role: "model",
      parts: [
        { text: "Here.", thoughtSignature: "c2lnLTE=" },
        { inlineData: { mimeType: "image/png", data }, thoughtSignature: "c2lnLTI=" },
      ],
    },
    { role: "user", parts: [{ text: "Now at night" }] },
  ]);
});

test("drafts and signature of a thinking model are delivered", async () => {
  const reply = await clientOf("v1beta").models.generateContent({ model: PRO, contents: "A fox" });
  const parts = reply.candidates![0]!.content!.parts!;
  expect(parts.filter(({ thought }) => thought).map((part) => Object.keys(part).toSorted())).toEqual([
    ["text", "thought"],
    ["inlineData", "thought"],
  ]);
  expect(parts.at(-1)!.thoughtSignature!.length).toBe(80_000);
  expect(reply.usageMetadata!.thoughtsTokenCount).toBe(300);
});

test("a missing tier becomes the model's tier and is billed as that", async () => {
  const requestId = "native-lite-4k";
  const reply = await clientOf("v1beta", { "X-Request-Id": requestId }).models.generateContent({
    model: LITE,
    contents: "A fox",
    config: { imageConfig: { imageSize: "4K", aspectRatio: "16:9" } },
  });
  expect(await measure(picturesOf(reply)[0]!.inlineData!)).toBe("1376x768 png");
  const [row] = await fixture.gateway.charged(requestId);
  expect([row!.amount, row!.consumed!.tier]).toEqual([NANOS["1K"], "1K"]);
});

test("a refused prompt is the client's error class and is not billed", async () => {
  fixture.strict.next({ fault: "content-refused", text: "IMAGE_SAFETY" });
  const request = (requestId: string) =>
    clientOf("v1beta", { "X-Request-Id": requestId }).models.generateContent({
      model: FAST,
      contents: "A fox",
    });
  const { status, error } = await failureOf(request("native-refused"));
  expect(status).toBe(400);
  expect(error).toMatchObject({
    code: 400,
    status: "INVALID_ARGUMENT",
    details: [{ reason: "content_policy_violation" }],
  });
  // This type name belongs to the protocol and does not identify the vendor.
  const words = JSON.stringify(error).replace("type.googleapis.com/google.rpc.ErrorInfo", "");
  expect(words).not.toMatch(/google|gemini/i);
  await request("native-after-refused");
  await fixture.gateway.charged("native-after-refused");
  const billed = (await fixture.gateway.ledger()).map((row) => row.request_id);
  expect(billed).not.toContain("native-refused");
});

test("the client's own header carries the key, and Authorization wins over it", async () => {
  const request = (client: GoogleGenAI) =>
    client.models.generateContent({ model: "sandbox-b-lite", contents: "A fox" });
  await request(clientOf("v1"));
  await request(clientOf("v1", { Authorization: `Bearer ${fixture.gateway.key}` }, "something-else"));
  const { status, error } = await failureOf(request(clientOf("v1", { Authorization: "Bearer gk_wrong" })));
  expect([status, error.status]).toEqual([401, "UNAUTHENTICATED"]);
  expect((await failureOf(request(clientOf("v1", {}, "gk_wrong")))).error.details).toEqual([
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "authentication_required",
      domain: "model-inference-gateway",
    },
  ]);
});
