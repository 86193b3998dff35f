import { describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import { failureOf, describeImages, never, pngReference } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { row } from "../upstreams/error-rows.ts";
import { SIMULATED_KEY, startFal } from "../upstreams/fal.ts";

const harness = await openHarness({
  channel: "fal",
  variables: ["FAL_KEY"],
  key: SIMULATED_KEY,
  start: startFal,
  path: "",
  model: "flux-kontext-pro",
});
const { vendor, open, order, generate, calls } = harness;

describe("a generation", () => {
  test("is submitted as exactly the documented JSON and polled under owner and application", async () => {
    const reply = await generate({
      requestedSize: { kind: "tier", tier: "1K", ratio: "16:9" },
      format: "png",
      count: 2,
    });
    const body = '{"prompt":"a red fox","aspect_ratio":"16:9","num_images":2,"output_format":"png"}';
    expect(vendor.hits[0]!.body.toString()).toBe(body);
    expect(vendor.hits[0]!.headers["authorization"]).toBe(`Key ${SIMULATED_KEY}`);
    expect(calls()).toEqual([
      "POST /fal-ai/flux-pro/kontext/text-to-image",
      "GET /fal-ai/flux-pro/requests/*/status",
      "GET /fal-ai/flux-pro/requests/*/status",
      "GET /fal-ai/flux-pro/requests/*",
      "GET /results/*",
      "GET /results/*",
    ]);
    expect(await describeImages(reply)).toEqual(["1360x768 png", "1360x768 png"]);
  });

  test("by a model of free sizes sends pixels and makes one image a call", async () => {
    const reply = await generate(
      { requestedSize: { kind: "exact", width: 1000, height: 500 }, count: 2 },
      "flux-2-pro",
    );
    expect(vendor.hits[0]!.json()).toEqual({
      prompt: "a red fox",
      image_size: { width: 1008, height: 496 },
      output_format: "jpeg",
    });
    expect(await describeImages(reply)).toEqual(["1008x496 jpeg"]);
  });

  test("of several at such a model is as many calls where the channel fans out", async () => {
    const reply = await open({ fanOut: true }).generate(order({ count: 3 }, "flux-2-max"), never);
    expect(reply.images).toHaveLength(3);
  });

  test("sends no format that the model does not have", async () => {
    await generate({ format: "webp" });
    expect(vendor.hits[0]!.json()).not.toHaveProperty("output_format");
  });
});

describe("an edit", () => {
  test("goes to the model's path for edits with its reference as a data URL", async () => {
    const reference = pngReference(60, 30);
    const reply = await generate({ references: [reference] });
    const link = `data:image/png;base64,${Buffer.from(await reference.blob.bytes()).toString("base64")}`;
    expect(vendor.hits[0]!.path).toBe("/fal-ai/flux-pro/kontext");
    expect(vendor.hits[0]!.json()).toEqual({
      prompt: "a red fox",
      image_url: link,
      num_images: 1,
      output_format: "png",
    });
    expect(await describeImages(reply)).toEqual(["1456x720 png"]);
  });

  test("by a model that takes a list sends all references and the shape of the first", async () => {
    await generate({ references: [pngReference(60, 30), pngReference()] }, "flux-2-pro");
    const { image_urls: links, image_size: size } = vendor.hits[0]!.json();
    expect(vendor.hits[0]!.path).toBe("/fal-ai/flux-2-pro/edit");
    expect(links).toHaveLength(2);
    expect(size).toEqual({ width: 1440, height: 720 });
  });
});

describeErrorRows(harness, [
  ["unauthorized", "account"],
  ["locked", "account"],
  ["unknown-model", "broken", true],
  ["throttled", "limited"],
  ["bad-gateway", "overloaded"],
  ["overloaded", "overloaded"],
  ["late", "overloaded"],
  ["image_too_large", "rejected"],
  ["content_policy_violation", "refused"],
]);

describe("a failure", () => {
  const outcomes: [string, UpstreamErrorKind][] = [
    ["content_policy_violation", "refused"],
    ["image_too_large", "rejected"],
    ["sentence", "rejected"],
    ["file_download_error", "rejected"],
    ["no_media_generated", "broken"],
    ["downstream_service_error", "overloaded"],
    ["downstream_service_unavailable", "overloaded"],
    ["generation_timeout", "overloaded"],
    ["internal", "overloaded"],
    ["runner_disconnected", "overloaded"],
    ["startup_timeout", "overloaded"],
    ["nsfw:0", "refused"],
    ["no-images", "broken"],
  ];
  test.each(outcomes)("in place of the result, %s, is %s at once", async (outcome, kind) => {
    vendor.next({ outcome });
    expect(await failureOf(generate())).toMatchObject({
      kind,
      isAmbiguous: kind === "broken" && outcome === "no-images",
    });
    expect(vendor.hits).toHaveLength(4);
  });

  test("of the account in place of the result is ambiguous", async () => {
    vendor.next({ outcome: "locked" });
    expect(await failureOf(generate())).toMatchObject({ kind: "account", isAmbiguous: true });
    while (!vendor.jobs.all.at(-1)!.isCancelled) await Bun.sleep(1);
  });

  test("has the field and the retry-after", async () => {
    vendor.next(row("image_too_large"), row("throttled", { retryAfter: "3" }));
    expect(await failureOf(generate())).toMatchObject({
      param: "image_url",
      publicMessage: "It did not work.",
    });
    expect(await failureOf(generate())).toMatchObject({ retryAfterSeconds: 3 });
  });

  test("never hides a picture that comes alone, without a list", async () => {
    vendor.next({ outcome: "single" });
    expect((await generate()).images).toHaveLength(1);
  });

  test("of some pictures, indecent or missing, does not affect the others", async () => {
    vendor.next({ outcome: "nsfw:1" });
    expect((await generate({ count: 3 })).images).toHaveLength(2);
    const missing = { fault: "error-status", status: 404 } as const;
    vendor.next({ linkBehaviours: [missing, missing] }, { linkBehaviours: [missing] });
    expect((await generate({ count: 3 })).images).toHaveLength(2);
    expect((await generate({ count: 3 })).images).toHaveLength(3);
  });

  test("of a poll, or of the queue in place of the result, is retried", async () => {
    vendor.next({ polls: 0 }, row("overloaded"), "html", {}, row("bad-gateway"), "truncated");
    expect((await generate()).images).toHaveLength(1);
  });

  test("of a poll that does not find the job says nothing of the account", async () => {
    vendor.next({}, row("unknown-request"));
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", status: 404, isAmbiguous: true });
    while (!vendor.jobs.all.at(-1)!.isCancelled) await Bun.sleep(1);
    expect(vendor.hits.map(({ method }) => method)).toEqual(["POST", "GET", "PUT"]);
  });

  test("of every poll ends and cancels the job", async () => {
    vendor.next({}, ...Array.from({ length: 6 }, () => row("overloaded")));
    expect(await failureOf(generate())).toMatchObject({ kind: "overloaded", isAmbiguous: true });
    const hit = await vendor.waitForHits(8);
    expect(`${hit.method} ${hit.path}`).toMatch(/^PUT .*\/cancel$/);
    while (!vendor.jobs.all.at(-1)!.isCancelled) await Bun.sleep(1);
  });
});

describe("an aborted signal", () => {
  const reason = new Error("aborted");

  test("while the job is running cancels it, with credential and without body", async () => {
    vendor.next({ polls: 1_000_000 });
    const controller = new AbortController();
    const call = generate({}, undefined, controller.signal);
    await vendor.waitForHits(3);
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    await cancelled();
    const polled = vendor.hits.length;
    await Bun.sleep(30);
    expect(vendor.hits.length).toBe(polled);
  });

  test("during the submission cancels the job as soon as its id is known", async () => {
    vendor.next({ delayMs: 50, polls: 1_000_000 });
    const controller = new AbortController();
    const call = generate({}, undefined, controller.signal);
    await vendor.waitForHits(1);
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect(vendor.hits).toHaveLength(1);
    await cancelled();
  });

  test("cancels all parallel jobs", async () => {
    vendor.next({ polls: 1_000_000 }, { polls: 1_000_000 });
    const controller = new AbortController();
    const call = open({ fanOut: true }).generate(order({ count: 2 }, "flux-2-pro"), controller.signal);
    await vendor.waitForHits(4);
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    await cancelled(2);
  });

  async function cancelled(count = 1): Promise<void> {
    const cancels = () => vendor.hits.filter(({ method, status }) => method === "PUT" && status === 202);
    while (cancels().length < count) await Bun.sleep(1);
    expect(vendor.jobs.all.slice(-count).every(({ isCancelled }) => isCancelled)).toBe(true);
    expect(cancels()[0]!.body).toHaveLength(0);
  }
});

describeVendor(harness);
