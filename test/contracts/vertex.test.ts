import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { ReferenceImage } from "../../src/domain/image.ts";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { knownKeys } from "../../src/domain/schema-problems.ts";
import { vertex } from "../../src/providers/vertex/index.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { failureOf, makeOrder, makeReference } from "../support/gemini-order.ts";
import { makeNoise } from "../upstreams/gemini/noise.ts";
import { SIMULATED_PROJECT, startVertex } from "../upstreams/gemini.ts";
import { startTokenServer } from "../upstreams/google-tokens.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const tokens = await startTokenServer();
const revoked = new Set<string>();
const vendor = await startVertex({
  accepts: (token) => tokens.granted.includes(token) && !revoked.has(token),
});
const never = new AbortController().signal;

afterAll(() => Promise.all([vendor.close(), tokens.close()]));
beforeEach(() => {
  vendor.reset();
  tokens.reset();
});

function open(change: object = {}) {
  const settings = { baseUrl: vendor.url, apiKey: tokens.accountKey, ...change };
  return vertex.image!(vertex.settings.parse(settings), new FairSemaphore(2));
}

describe("the request", () => {
  test("goes to project and region with an access token", async () => {
    const { images, usage } = await open().generate(makeOrder(), never);
    expect([images.length, usage?.output]).toEqual([1, 1120]);
    const [hit] = vendor.hits;
    expect(hit!.path).toBe(
      `/v1beta1/projects/${SIMULATED_PROJECT}/locations/global/publishers/google/models/gemini-3.1-flash-image:generateContent`,
    );
    expect(hit!.headers["authorization"]).toBe(`Bearer ${tokens.granted.at(-1)}`);
    expect(hit!.headers["x-goog-api-key"]).toBeUndefined();
  });

  test("requests JPEG with the caller's compression", async () => {
    const { images } = await open().generate(makeOrder({ format: "jpeg", compression: 40 }), never);
    expect((await readImageHeader(images[0]!)).format).toBe("jpeg");
    await open().generate(makeOrder({ format: "jpeg" }), never);
    await open().generate(makeOrder({ format: "webp", compression: 40 }), never);
    const options = vendor.hits.map(
      (hit) => JSON.stringify(hit.json()).match(/"imageOutputOptions":(\{.*?\})/)?.[1],
    );
    expect(options).toEqual([
      '{"mimeType":"image/jpeg","compressionQuality":40}',
      '{"mimeType":"image/jpeg","compressionQuality":100}',
      undefined,
    ]);
  });

  test("shrinks a reference over 7 MB and sends a smaller one unchanged", async () => {
    const bytes = makeNoise(1700, 1500);
    expect(bytes.byteLength).toBeGreaterThan(7_000_000);
    const large: ReferenceImage = { blob: new Blob([bytes]), format: "png", width: 1700, height: 1500 };
    const small = makeReference();
    await open().generate(makeOrder({ references: [large, small] }), never);
    const types = vendor.hits[0]!.body.toString("latin1").match(/image\/[a-z]+/g);
    expect(types).toEqual(["image/jpeg", "image/png"]);
  });
});

describe("access tokens", () => {
  test("are requested once for many calls, with a valid assertion", async () => {
    const upstream = open();
    await Promise.all([upstream.generate(makeOrder(), never), upstream.generate(makeOrder(), never)]);
    await upstream.generate(makeOrder(), never);
    expect([tokens.hits.length, vendor.hits.length]).toEqual([1, 3]);
  });

  test("come from the metadata server without a credential", async () => {
    const upstream = open({ apiKey: undefined, project: SIMULATED_PROJECT, metadataUrl: tokens.url });
    expect((await upstream.generate(makeOrder(), never)).images).toHaveLength(1);
    expect([tokens.hits[0]!.method, tokens.hits[0]!.headers["metadata-flavor"]]).toEqual(["GET", "Google"]);
  });

  test("that the vendor refuses are replaced at the next call", async () => {
    const upstream = open();
    await upstream.generate(makeOrder(), never);
    revoked.add(tokens.granted.at(-1)!);
    expect(await failureOf(upstream.generate(makeOrder(), never))).toMatchObject({
      kind: "account",
      status: 401,
    });
    expect((await upstream.generate(makeOrder(), never)).images).toHaveLength(1);
    expect(tokens.hits).toHaveLength(2);
  });

  test.each([
    ["account", 400, undefined, { fault: "error-status", status: 400 }],
    ["account", 401, undefined, { fault: "error-status", status: 401 }],
    ["limited", 429, 9, { fault: "error-status", status: 429, retryAfter: "9" }],
    ["overloaded", 503, undefined, { fault: "error-status", status: 503 }],
    ["broken", 418, undefined, { fault: "error-status", status: 418 }],
    ["unreachable", undefined, undefined, { fault: "reset-before-headers" }],
    ["broken", undefined, undefined, { fault: "reset-midway" }],
    ["broken", undefined, undefined, { fault: "garbage" }],
    ["broken", undefined, undefined, { fault: "html" }],
    ["broken", undefined, undefined, { fault: "empty" }],
    ["broken", 302, undefined, { fault: "redirect" }],
    ["broken", undefined, undefined, { fault: "truncated" }],
    ["broken", undefined, undefined, { fault: "flood" }],
    ["broken", undefined, undefined, { fault: "no-usage" }],
  ] as const)(
    "that are not granted fail as %s, status %p, retryAfterSeconds %p, not ambiguous: %p",
    async (kind, status, prefix, behaviour) => {
      tokens.next(behaviour as Behaviour);
      const error = await failureOf(open().generate(makeOrder(), never));
      expect([error.kind, error.status, error.retryAfterSeconds, error.isAmbiguous]).toEqual([
        kind,
        status,
        prefix,
        false,
      ]);
      expect(vendor.hits).toHaveLength(0);
    },
  );

  test("are not awaited after an abort", async () => {
    tokens.next("stall");
    const caller = new AbortController();
    const generated = open().generate(makeOrder(), caller.signal);
    await tokens.waitForHits(1);
    caller.abort(new Error("aborted"));
    await expect(generated).rejects.toThrow("aborted");
    expect(vendor.hits).toHaveLength(0);
  });

  test("and keys are in no error, also when the vendor repeats them", async () => {
    vendor.next("echo-authorization");
    tokens.next({}, { fault: "error-status", status: 400 });
    const errors = await Promise.all([
      failureOf(open().generate(makeOrder(), never)),
      failureOf(open().generate(makeOrder(), never)),
    ]);
    const inspected = Bun.inspect(errors) + errors.map(({ publicMessage }) => publicMessage).join();
    expect(inspected).not.toContain("ya29.simulated");
    expect(inspected).not.toContain("PRIVATE KEY");
    expect(inspected).not.toContain("eyJ");
  });
});

describe("a failure", () => {
  test.each([
    ["limited", { fault: "error-status", text: "PLAIN_EXHAUSTED" }],
    ["account", { fault: "error-status", text: "IAM_PERMISSION_DENIED" }],
    ["overloaded", { fault: "error-status", text: "UNAVAILABLE" }],
    ["refused", { fault: "content-refused", text: "IMAGE_PROHIBITED_CONTENT" }],
    ["refused", { fault: "content-refused", text: "prompt:MODEL_ARMOR" }],
    ["broken", { fault: "no-images", text: "NO_IMAGE" }],
  ] as const)("is %s by %p", async (kind, behaviour) => {
    vendor.next(behaviour as Behaviour);
    expect((await failureOf(open().generate(makeOrder(), never))).kind).toBe(kind);
  });

  test("an abort closes the vendor's connection", async () => {
    vendor.next("stall");
    const caller = new AbortController();
    const generated = open().generate(makeOrder(), caller.signal);
    await vendor.waitForHits(1);
    caller.abort(new Error("aborted"));
    await expect(generated).rejects.toThrow("aborted");
    await vendor.waitForClose();
  });
});

describe("settings", () => {
  const problems = (settings: object) =>
    vertex.settings
      .safeParse(settings)
      .error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`);

  test("have known names", () => {
    expect(knownKeys(vertex.settings).toSorted()).toEqual(
      ["apiKey", "baseUrl", "fanOut", "metadataUrl", "project", "region"].toSorted(),
    );
  });

  test("refuse a credential that is no service account's key, without repeating it", () => {
    const broken = tokens.accountKey.replace(/-----BEGIN PRIVATE KEY-----/, "-----BEGIN");
    for (const apiKey of ["secret", "{}", '{"type":"authorized_user"}', broken])
      expect(problems({ apiKey })?.[0]).toBe("apiKey must be the JSON of a service account's key");
  });

  test("need a project of the settings or the credential", () => {
    expect(problems({})).toEqual(["project is missing: the credential names no project"]);
    expect(problems({ project: "my-project" })).toBeUndefined();
    expect(problems({ apiKey: tokens.accountKey })).toBeUndefined();
  });

  test.each(["../x", "europe west", "a/b", "A"])("refuse the region %p", (region) => {
    expect(problems({ project: "p", region })).toHaveLength(1);
  });
});
