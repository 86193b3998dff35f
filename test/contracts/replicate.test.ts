import { describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import { failureOf, imageModel, describeImages, never, pngReference } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { row } from "../upstreams/error-rows.ts";
import { SIMULATED_KEY, startReplicate } from "../upstreams/replicate.ts";

const bench = await openHarness({
  channel: "replicate",
  variables: ["REPLICATE_API_TOKEN"],
  key: SIMULATED_KEY,
  start: startReplicate,
  path: "/v1",
  model: "flux-2-pro",
});
const { vendor, settings, open, order, generate, calls } = bench;

describe("a generation", () => {
  test("is exactly the JSON the model knows, and needs no look when the wait was enough", async () => {
    const reply = await generate({ wish: { kind: "tier", tier: "2K", ratio: "3:2" }, format: "webp" });
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

  test("that takes longer is looked at on the vendor's own address, whatever address it names", async () => {
    vendor.next({ polls: 2, outcome: "one-link" });
    expect(await describeImages(await generate({}, "flux-kontext-pro"))).toEqual(["1024x1024 png"]);
    expect(calls().slice(1)).toEqual(["GET /v1/predictions/*", "GET /v1/predictions/*", "GET /results/*"]);
  });

  test("of any shape is one that each model knows", async () => {
    for (const id of ["flux-kontext-pro", "flux-kontext-max", "flux-2-pro", "flux-2-max"] as const) {
      const { model } = imageModel(settings, id);
      for (const ratio of model.image.ratios)
        expect((await generate({ wish: { kind: "tier", tier: null, ratio } }, id)).images).toHaveLength(1);
    }
  });

  test("by a version names it in the body", async () => {
    const version = "00b07c32e314ceb5152c1d08e73400e6a61d7d22ba60a405fc76314fc807910c";
    await open().generate({ ...order(), upstreamModel: version }, never);
    expect(vendor.hits[0]!.path).toBe("/v1/predictions");
    expect(vendor.hits[0]!.json()).toEqual({ version, input: { prompt: "a red fox", aspect_ratio: "1:1" } });
  });

  test("of several makes one, unless the channel may ask several times", async () => {
    expect((await generate({ count: 2 })).images).toHaveLength(1);
    expect((await open({ fanOut: true }).generate(order({ count: 2 }), never)).images).toHaveLength(2);
  });

  test("gives as many pictures as came, whose links still work", async () => {
    vendor.next({ images: 3 });
    expect((await generate()).images).toHaveLength(3);
    const expired = { fault: "error-status", status: 404 } as const;
    vendor.next({ linkBehaviours: [expired, expired] });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
  });
});

describe("an edit", () => {
  test("sends its references as data URLs and asks for the shape of the first", async () => {
    const reply = await generate({ references: [pngReference(60, 30), pngReference()] });
    const { input } = vendor.hits[0]!.json();
    expect(input).toMatchObject({ aspect_ratio: "match_input_image", resolution: "1 MP" });
    expect(Object(input)["input_images"]).toHaveLength(2);
    expect(await describeImages(reply)).toEqual(["1456x720 jpeg"]);
  });

  test("at a model of one reference sends the first", async () => {
    await generate(
      { references: [pngReference()], wish: { kind: "tier", tier: "1K", ratio: "1:1" } },
      "flux-kontext-max",
    );
    const { input } = vendor.hits[0]!.json();
    expect(input).toMatchObject({
      aspect_ratio: "1:1",
      input_image: expect.stringMatching(/^data:image\/png;base64,/),
    });
  });
});

describeErrorRows(bench, [
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
  test("tells when to come back, by header or else by its sentence", async () => {
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
    "of the prediction, %s, is told as %s, within the wait and after it",
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

  test("of a look is passed over", async () => {
    vendor.next({ polls: 2 }, row("overloaded"), "html", "truncated", "close-before-headers");
    expect((await generate()).images).toHaveLength(1);
  });
});

describe("a caller that goes", () => {
  const reason = new Error("gone");

  test.each([
    ["within the wait", { delayMs: 50, polls: 1_000_000 }, 1],
    ["after the wait", { polls: 1_000_000 }, 3],
  ] as const)("%s has the prediction cancelled", async (_, plan, hits) => {
    vendor.next(plan);
    const controller = new AbortController();
    const call = generate({}, undefined, controller.signal);
    await vendor.waitForHits(hits);
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    while (!calls().includes("POST /v1/predictions/*/cancel")) await Bun.sleep(1);
    expect(vendor.jobs.all.at(-1)!.isCancelled).toBe(true);
  });

  test("just when the prediction has ended leaves it as it is", async () => {
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

describeVendor(bench);
