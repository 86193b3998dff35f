import { afterAll, describe, expect, test } from "bun:test";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { JSON_BOUNDS } from "../../src/lib/bounded-json.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { imageModel, makeOrder, never, shippedSettings } from "../support/image-calls.ts";
import { threadTime } from "./thread-time.ts";

/*
 * Whatever a vendor answers, with or without success, its provider gives up before it is parsed. A new provider is
 * included; one with settings beside address and key must be listed below.
 */
const LONG = 510_000;
const ANSWERS: Readonly<Record<string, string>> = {
  "many levels": `{"a":${"[".repeat(LONG)}${"]".repeat(LONG)}}`,
  "many values": `{"a":[${"[],".repeat(LONG)}0]}`,
  "many names": `{${Array.from({ length: 51_000 }, (_, index) => `"n${index}":0`).join(",")}}`,
  "levels in a short text": `{"error":${"[".repeat(JSON_BOUNDS.depth)}${"]".repeat(JSON_BOUNDS.depth)}}`,
};
let answer = "";
let status = 200;
const vendor = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ url }) =>
    url.includes("computeMetadata")
      ? Response.json({ access_token: "token", expires_in: 3_600 })
      : new Response(answer, { status, headers: { "content-type": "application/json" } }),
});
afterAll(() => vendor.stop(true));

const OWN_SETTINGS: Readonly<Record<string, object>> = {
  azure: { surface: "v1" },
  bedrock: { region: "eu-central-1" },
  vertex: { apiKey: undefined, project: "p", metadataUrl: vendor.url.origin },
};

const settings = await shippedSettings({});
const { model } = imageModel(settings, "sandbox-a");
const raw = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }], max_tokens: 8 });

describe.each([...PROVIDERS.keys()].filter((name) => name !== "sandbox"))("%s", (name) => {
  const opened = PROVIDERS.get(name)!.open(
    { baseUrl: vendor.url.origin, apiKey: "key", pollIntervalMs: 5, ...OWN_SETTINGS[name] },
    new FairSemaphore(2),
  );
  const text = { raw, upstreamModel: "m", headers: {}, signal: never };
  const calls: [what: string, call: () => Promise<unknown>][] = [
    ...(opened.text ?? []).map((upstream): (typeof calls)[number] => [
      `text of ${upstream.dialect}`,
      () => upstream.send({ ...text, isStream: false }),
    ]),
    ...(opened.image
      ? [["pictures", () => opened.image!.generate(makeOrder(model, "m"), never)] as never]
      : []),
    ...(opened.embedding
      ? [["embeddings", () => opened.embedding!.embed({ ...text, texts: ["x"], dimensions: null })] as never]
      : []),
  ];

  test.each(calls)("gives up on %s with more than can be parsed at once", async (_, call) => {
    for (const [kind, body] of Object.entries(ANSWERS)) {
      for (status of [200, 400]) {
        answer = body;
        const start = threadTime();
        const thrown: unknown = await call().then(
          () => null,
          (error: unknown) => error,
        );
        // Both ends run on this thread; to parse any of them would take longer alone.
        expect({ kind, status, isLong: threadTime() - start > 500 }).toEqual({ kind, status, isLong: false });
        expect(thrown).toBeInstanceOf(UpstreamError);
      }
    }
  });
});
