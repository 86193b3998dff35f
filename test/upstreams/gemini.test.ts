import { generateKeyPairSync } from "node:crypto";
import { afterAll, describe, expect, test } from "bun:test";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import {
  readServiceAccount,
  requestAccountToken,
  type ServiceAccount,
} from "../../src/providers/vertex/service-account.ts";
import { makePng } from "../support/pictures.ts";
import { makeNoise } from "./gemini/noise.ts";
import { SIMULATED_KEY, SIMULATED_PROJECT, startGemini, startVertex } from "./gemini.ts";
import { startTokenServer } from "./google-tokens.ts";

const vendor = await startGemini();

afterAll(() => vendor.close());

describe("the address for keys refuses", () => {
  const image = { inlineData: { mimeType: "image/png", data: makePng(2, 2).toString("base64") } };
  const contents = (...parts: object[]) => [{ role: "user", parts }];
  const config = (imageConfig: object) => ({ generationConfig: { imageConfig } });
  const text = { text: "a fox" };

  test.each([
    ["a field it does not know", { contents: contents(text), n: 2 }],
    ["a ratio outside of its object", { contents: contents(text), generationConfig: { aspectRatio: "1:1" } }],
    ["a tier in lower case", { contents: contents(text), ...config({ imageSize: "2k" }) }],
    ["pixels for a tier", { contents: contents(text), ...config({ imageSize: "1024x1024" }) }],
    ["a ratio it does not list", { contents: contents(text), ...config({ aspectRatio: "2:1" }) }],
    ["the other address's fields", { contents: contents(text), ...config({ imageOutputOptions: {} }) }],
    ["several candidates", { contents: contents(text), generationConfig: { candidateCount: 2 } }],
    [
      "words without pictures",
      { contents: contents(text), generationConfig: { responseModalities: ["TEXT"] } },
    ],
    ["no contents", {}],
    ["a role it does not know", { contents: [{ role: "system", parts: [text] }] }],
    ["an empty turn", { contents: contents() }],
    ["fifteen pictures", { contents: contents(...Array.from({ length: 15 }, () => image)) }],
    [
      "a type it does not read",
      { contents: contents({ inlineData: { ...image.inlineData, mimeType: "image/bmp" } }) },
    ],
    [
      "a type that is not the bytes'",
      { contents: contents({ inlineData: { ...image.inlineData, mimeType: "image/jpeg" } }) },
    ],
    [
      "a data URL for base64",
      { contents: contents({ inlineData: { mimeType: "image/png", data: "data:,x" } }) },
    ],
  ])("%s", async (_name, body) => {
    const response = await fetch(`${vendor.url}/v1beta/models/gemini-3.1-flash-image:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": SIMULATED_KEY, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  });

  test("a retired model, a wrong key and a key in the query", async () => {
    const ask = (path: string, key: string) =>
      fetch(vendor.url + path, {
        method: "POST",
        headers: { "x-goog-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ contents: contents(text) }),
      }).then(({ status }) => status);
    expect(await ask("/v1beta/models/gemini-2.5-flash-image:generateContent", SIMULATED_KEY)).toBe(404);
    const path = "/v1beta/models/gemini-3-pro-image:generateContent";
    expect(await ask(path, "wrong")).toBe(400);
    expect(await ask(`${path}?key=${SIMULATED_KEY}`, SIMULATED_KEY)).toBe(400);
    expect(await ask(path, SIMULATED_KEY)).toBe(200);
  });
});

test("the address in a project refuses a turn without a role, and a picture over 7 MB", async () => {
  await using cloud = await startVertex({ accepts: (token) => token === "good" });
  const models = `${cloud.url}/v1beta1/projects/${SIMULATED_PROJECT}/locations/global/publishers/google/models`;
  const ask = async (turn: object, token = "good") => {
    const response = await fetch(`${models}/gemini-3-pro-image:generateContent`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ contents: [turn] }),
    });
    return response.status;
  };
  const large = { inlineData: { mimeType: "image/png", data: makeNoise(1700, 1500).toString("base64") } };
  expect(await ask({ role: "user", parts: [{ text: "a fox" }] })).toBe(200);
  expect(await ask({ role: "user", parts: [{ text: "a fox" }] }, "bad")).toBe(401);
  expect(await ask({ parts: [{ text: "a fox" }] })).toBe(400);
  expect(await ask({ role: "user", parts: [large] })).toBe(400);
});

test("the token server refuses statements that are forged, late, early, or meant for another", async () => {
  await using tokens = await startTokenServer();
  const account = readServiceAccount(tokens.accountKey)!;
  const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const ask = (change: Partial<ServiceAccount>, skewMs = 0) =>
    requestAccountToken({ ...account, ...change }, Date.now() + skewMs, new AbortController().signal).then(
      () => "granted",
      ({ kind }: UpstreamError) => kind,
    );
  expect(await ask({})).toBe("granted");
  expect(await ask({ key: stranger })).toBe("account");
  expect(await ask({ email: "somebody@else.example" })).toBe("account");
  expect(await ask({ keyId: "other" })).toBe("account");
  expect(await ask({}, -2 * 3_600_000)).toBe("account");
  expect(await ask({}, 3_600_000)).toBe("account");
  expect(await ask({ tokenUrl: `${tokens.url}/token?` })).toBe("account");
});
