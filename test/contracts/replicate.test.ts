import { describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import { failureOf, imageModel, describeImages, never, pngReference } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { row } from "../upstreams/error-rows.ts";
import { SIMULATED_KEY, startReplicate } from "../upstreams/replicate.ts";

const harness = await openHarness({
  channel: "replicate",
  variables: ["REPLICATE_API_TOKEN"],
  key: SIMULATED_KEY,
  start: startReplicate,
  path: "/v1",
  model: "flux-2-pro",
});
const { vendor, settings, open, order, generate, calls } = harness;

describe("a generation", () => {
  test("sends exactly the documented JSON, and no poll when the wait was enough", async () => {
    const reply = await generate({
      requestedSize: { kind: "tier", tier: "2K", ratio: "3:2" },
      format: "webp",
    });
    const body =
      '{"input":{"prompt":"a red fox","aspect_ratio":"3:2","resolution":"4 MP","output_format":"png"}}';
    expect(vendor.hits[0]!.body.toString()).toBe(body);
    expect(vendor.hits[0]!.headers).toMatchObject({
      authorization: `Bearer ${SIMULATED_KEY}`,
      prefer: "wait=5",
      "cancel-after": "15m",
    });
    expect(calls()).toEqual(["POST /v1/models/black-forest-labs/flux-2-pro/predictions", "GET /results/*"]);
    expect(vendor.hits[1]!.headers).not.toHaveProperty("authorization");
    expect(await describeImages(reply)).toEqual(["2496x1664 png"]);
  });

  test("that takes longer is polled on the configured address, whatever address the vendor returns", async () => {
    vendor.next({ polls: 2, outcome: "one-link" });
    expect(await describeImages(await generate({}, "flux-kontext-pro"))).toEqual(["1024x1024 png"]);
    expect(calls().slice(1)).toEqual(["GET /v1/predictions/*", "GET /v1/predictions/*", "GET /results/*"]);
  });

  test("of any shape is valid for every model", async () => {
    for (const id of ["flux-kontext-pro", "flux-kontext-max", "flux-2-pro", "flux-2-max"] as const) {
      const { model } = imageModel(settings, id);
      for (const ratio of model.image.ratios)
        expect(
          (await generate({ requestedSize: { kind: "tier", tier: null, ratio } }, id)).images,
        ).toHaveLength(1);
    }
  });

  test("by a version has it in the body", async () => {
    const version = "00b07c32e314ceb5152c1d08e73400e6a61d7d22ba60a405fc76314fc807910c";
    await open().generate({ ...order(), upstreamModel: version }, never);
    expect(vendor.hits[0]!.path).toBe("/v1/predictions");
    expect(vendor.hits[0]!.json()).toEqual({ version, input: { prompt: "a red fox", aspect_ratio: "1:1" } });
  });

  test("of several makes one, unless the channel fans out", async () => {
    expect((await generate({ count: 2 })).images).toHaveLength(1);
    expect((await open({ fanOut: true }).generate(order({ count: 2 }), never)).images).toHaveLength(2);
  });

  test("returns as many pictures as came", async () => {
    vendor.next({ images: 3 });
    expect((await generate()).images).toHaveLength(3);
    const expired = { fault: "error-status", status: 404 } as const;
    vendor.next({ linkBehaviours: [expired, expired] });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
  });
});

describe("an edit", () => {
  test("sends its references as data URLs and requests the shape of the first", async () => {
    const reply = await generate({ references: [pngReference(60, 30), pngReference()] });
    const { input } = vendor.hits[0]!.json();
    expect(input).toMatchObject({ aspect_ratio: "match_input_image", resolution: "1 MP" });
    expect(Object(input)["input_images"]).toHaveLength(2);
    expect(await describeImages(reply)).toEqual(["1456x720 jpeg"]);
  });

  test("by a model of one reference sends the first", async () => {
    await generate(
      { references: [pngReference()], requestedSize: { kind: "tier", tier: "1K", ratio: "1:1" } },
      "flux-kontext-max",
    );
    const { input } = vendor.hits[0]!.json();
    expect(input).toMatchObject({
      aspect_ratio: "1:1",
      input_image: expect.stringMatching(/^data:image\/png;base64,/),
    });
  });
});

describeErrorRows(harness, [
  ["bad-request", "rejected"],
  ["unauthorized", "account"],
  ["no-credits", "account"],
  ["unknown-model", "broken", true],
  ["invalid", "rejected"],
  ["throttled", "limited"],
  ["broken", "overloaded"],
  ["overloaded", "overloaded"],
]);

describe("a failure", () => {
  test("has the retry-after of the header, else of its sentence", async () => {
    vendor.next(row("throttled"), row("throttled", { retryAfter: "4" }));
    expect((await failureOf(generate())).retryAfterSeconds).toBe(30);
    expect((await failureOf(generate())).retryAfterSeconds).toBe(4);
  });

  const outcomes: [string, UpstreamErrorKind][] = [
    ["flagged", "refused"],
    ["nsfw", "refused"],
    ["invalid-input", "rejected"],
    ["high-demand", "overloaded"],
    ["crashed", "overloaded"],
    ["canceled", "overloaded"],
    ["aborted", "overloaded"],
    ["no-output", "broken"],
  ];
  test.each(outcomes)(
    "of the prediction by %s is %s, within the wait and after it",
    async (outcome, kind) => {
      vendor.next({ outcome });
      expect((await failureOf(generate())).kind).toBe(kind);
      vendor.next({ outcome, polls: 1 });
      expect((await failureOf(generate())).kind).toBe(kind);
      expect(calls().some((path) => path.endsWith("/cancel"))).toBe(false);
    },
  );

  test("of a poll that does not find the prediction says nothing of the account", async () => {
    vendor.next({ polls: 2 }, row("unknown-model"));
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", status: 404, isAmbiguous: true });
    while (!vendor.jobs.all.at(-1)!.isCancelled) await Bun.sleep(1);
  });

  test("of a poll is retried", async () => {
    vendor.next({ polls: 2 }, row("overloaded"), "html", "truncated", "close-before-headers");
    expect((await generate()).images).toHaveLength(1);
  });
});

describe("an aborted signal", () => {
  const reason = new Error("aborted");

  test.each([
    ["within the wait", { delayMs: 50, polls: 1_000_000 }, 1],
    ["after the wait", { polls: 1_000_000 }, 3],
  ] as const)("%s cancels the prediction", async (_, behaviour, hits) => {
    vendor.next(behaviour);
    const controller = new AbortController();
    const call = generate({}, undefined, controller.signal);
    await vendor.waitForHits(hits);
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    while (!calls().includes("POST /v1/predictions/*/cancel")) await Bun.sleep(1);
    expect(vendor.jobs.all.at(-1)!.isCancelled).toBe(true);
  });

  test("when the prediction has ended sends no cancel call", async () => {
    vendor.next({ delayMs: 30 });
    const controller = new AbortController();
    const call = generate({}, undefined, controller.signal);
    const hit = await vendor.waitForHits(1);
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    while (hit.respondedAt === null) await Bun.sleep(1);
    await Bun.sleep(20);
    expect(vendor.hits).toHaveLength(1);
  });
});

describeVendor(harness);
