import { describe, expect, test } from "bun:test";
import type { RequestedSize } from "../../src/domain/image.ts";
import { referenceLimit } from "../../src/domain/model.ts";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { describeDisconnects, describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import {
  failureOf,
  describeImages,
  imageModel,
  never,
  pngReference,
  webpReference,
} from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { SIMULATED_KEY, startBfl } from "../upstreams/bfl.ts";
import { row } from "../upstreams/error-rows.ts";

const harness = await openHarness({
  channel: "bfl",
  variables: ["BFL_API_KEY"],
  key: SIMULATED_KEY,
  start: startBfl,
  path: "/v1",
  model: "flux-2-pro",
});
const { vendor, open, order, generate, calls } = harness;
const SHIPPED = [
  "flux-2-pro",
  "flux-2-max",
  "flux-2-flex",
  "flux-2-klein-4b",
  "flux-2-klein-9b",
  "flux-kontext-pro",
  "flux-kontext-max",
];

describe("a generation", () => {
  test("is submitted as exactly the documented JSON, polled, and fetched without the credential", async () => {
    const reply = await generate({
      requestedSize: { kind: "tier", tier: "2K", ratio: "16:9" },
      format: "png",
    });
    const body = '{"prompt":"a red fox","width":2720,"height":1536,"output_format":"png"}';
    expect(vendor.hits[0]!.body.toString()).toBe(body);
    expect(vendor.hits[0]!.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      connection: "keep-alive",
      "content-length": String(body.length),
      "content-type": "application/json",
      host: vendor.hits[0]!.headers["host"]!,
      "user-agent": "model-inference-gateway",
      "x-key": SIMULATED_KEY,
    });
    expect(calls()).toEqual([
      "POST /v1/flux-2-pro",
      "GET /v1/get_result",
      "GET /v1/get_result",
      "GET /results/*",
    ]);
    expect(vendor.hits.at(-1)!.headers).not.toHaveProperty("x-key");
    expect(await describeImages(reply)).toEqual(["2720x1536 png"]);
    expect(reply.usage).toBeUndefined();
    expect(reply.vendorCost).toEqual({ amount: 40_000_000n, currency: "USD" });
  });

  test("by a model of fixed shapes sends a ratio", async () => {
    const reply = await generate(
      { requestedSize: { kind: "tier", tier: "1K", ratio: "21:9" } },
      "flux-kontext-pro",
    );
    expect(vendor.hits[0]!.json()).toEqual({
      prompt: "a red fox",
      aspect_ratio: "21:9",
      output_format: "png",
    });
    expect(await describeImages(reply)).toEqual(["1568x672 png"]);
  });

  const sizes: RequestedSize[] = [
    { kind: "unset" },
    { kind: "exact", width: 100, height: 4000 },
    { kind: "exact", width: 9000, height: 9000 },
    { kind: "tier", tier: "4K", ratio: "9:21" },
  ];
  test.each(sizes)("of the size %j is valid for every model", async (requestedSize) => {
    for (const id of SHIPPED)
      expect(await describeImages(await generate({ requestedSize }, id))).toHaveLength(1);
  });

  test("is polled through every status of a running job", async () => {
    vendor.next({ polls: 4 });
    expect((await generate()).images).toHaveLength(1);
    expect(calls().filter((call) => call === "GET /v1/get_result")).toHaveLength(5);
  });

  test("of several makes one, unless the channel fans out", async () => {
    expect((await generate({ count: 3 })).images).toHaveLength(1);
    vendor.reset();
    expect((await open({ fanOut: true }).generate(order({ count: 3 }), never)).images).toHaveLength(3);
    expect(calls().filter((path) => path.startsWith("POST"))).toHaveLength(3);
  });

  test("of several returns what succeeded when the rest was refused", async () => {
    vendor.next({}, { outcome: "Content Moderated" });
    expect((await open({ fanOut: true }).generate(order({ count: 2 }), never)).images).toHaveLength(1);
  });
});

describe("an edit", () => {
  test("sends its reference as base64 and keeps its shape where none is requested", async () => {
    const reference = pngReference(60, 30);
    const reply = await generate({ references: [reference] });
    const sent = vendor.hits[0]!.json();
    expect(sent["input_image"]).toBe(Buffer.from(await reference.blob.bytes()).toString("base64"));
    expect(Number(sent["width"]) / Number(sent["height"])).toBeCloseTo(2, 1);
    expect((await describeImages(reply))[0]).toBe(`${sent["width"]}x${sent["height"]} jpeg`);
    vendor.reset();
    await generate({ references: [reference] }, "flux-kontext-max");
    expect(vendor.hits[0]!.json()).not.toHaveProperty("aspect_ratio");
  });

  test("of several references numbers them", async () => {
    await generate({ references: [pngReference(), pngReference(), pngReference()] });
    const names = Object.keys(vendor.hits[0]!.json()).filter((name) => name.startsWith("input"));
    expect(names).toEqual(["input_image", "input_image_2", "input_image_3"]);
  });

  test("takes as many references as the model's record says", async () => {
    const most = {
      "flux-2-pro": 8,
      "flux-2-max": 8,
      "flux-2-flex": 8,
      "flux-2-klein-4b": 4,
      "flux-2-klein-9b": 4,
    };
    for (const [id, count] of Object.entries(most)) {
      expect(referenceLimit(imageModel(harness.settings, id).model)).toBe(count);
      const references = Array.from({ length: count }, () => pngReference());
      expect((await generate({ references }, id)).images).toHaveLength(1);
    }
  });

  test("sends a WebP as PNG", async () => {
    await generate({ references: [await webpReference()] });
    const sent = Buffer.from(String(vendor.hits[0]!.json()["input_image"]), "base64");
    expect(sent.toString("latin1", 1, 4)).toBe("PNG");
  });
});

describeErrorRows(harness, [
  ["bad-request", "rejected"],
  ["no-credits", "account"],
  ["unauthorized", "account"],
  ["unknown-model", "broken", true],
  ["invalid", "rejected"],
  ["too-many-tasks", "limited"],
  ["broken", "overloaded"],
  ["overloaded", "overloaded"],
]);

describe("a failure", () => {
  test("has the field and the retry-after", async () => {
    vendor.next(row("invalid"), row("too-many-tasks", { retryAfter: "7" }));
    expect(await failureOf(generate())).toMatchObject({
      param: "prompt",
      publicMessage: "Value is not a valid choice.",
    });
    expect(await failureOf(generate())).toMatchObject({ kind: "limited", retryAfterSeconds: 7 });
  });

  const outcomes: [string, UpstreamErrorKind, boolean][] = [
    ["Request Moderated", "refused", false],
    ["Content Moderated", "refused", false],
    ["Error", "overloaded", false],
    ["Failed", "overloaded", false],
    ["Task not found", "broken", true],
    ["No Sample", "broken", true],
  ];
  test.each(outcomes)("of the job by %s is %s", async (outcome, kind, isAmbiguous) => {
    vendor.next({ outcome });
    expect(await failureOf(generate())).toMatchObject({ kind, isAmbiguous });
  });

  test("of a poll is retried, of many in a row is not", async () => {
    vendor.next({}, row("overloaded"), "html", row("too-many-tasks"), "reset-before-headers");
    expect((await generate()).images).toHaveLength(1);
    vendor.reset();
    vendor.next({}, ...Array.from({ length: 6 }, () => row("broken")));
    expect(await failureOf(generate())).toMatchObject({ kind: "overloaded", isAmbiguous: true });
    expect(vendor.hits).toHaveLength(7);
  });

  test("of a poll that does not find the job says nothing of the account", async () => {
    vendor.next({}, row("unknown-model"));
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", status: 404, isAmbiguous: true });
    expect(vendor.hits).toHaveLength(2);
  });

  test("of a poll by the account ends the job", async () => {
    vendor.next({}, row("unauthorized"));
    expect(await failureOf(generate())).toMatchObject({ kind: "account", isAmbiguous: true });
    expect(vendor.hits).toHaveLength(2);
  });

  test("of the link is retried once, then broken", async () => {
    const expired = { fault: "error-status", status: 403 } as const;
    vendor.next({ linkBehaviours: [expired] });
    expect((await generate()).images).toHaveLength(1);
    vendor.next({ linkBehaviours: [expired, expired] });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
  });
});

describe("a polling address", () => {
  const elsewhere = [
    "https://bfl.ai.evil.example/v1/get_result?id=1",
    "http://127.0.0.1:9/v1/get_result?id=1",
    "https://api.us1.bfl.ai/v1/get_result?id=1",
    "//nowhere",
  ];
  test.each(elsewhere)("of another host, %s, never gets the credential", async (text) => {
    vendor.next({ text });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect(vendor.hits).toHaveLength(1);
  });
});

describe("an aborted signal", () => {
  test("while the job is running ends the call at once, without further polls", async () => {
    vendor.next({ polls: 1_000_000 });
    const controller = new AbortController();
    const call = generate({}, undefined, controller.signal);
    await vendor.waitForHits(3);
    const reason = new Error("aborted");
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    const polled = vendor.hits.length;
    await Bun.sleep(50);
    expect(vendor.hits.length).toBe(polled);
  });
});

describeDisconnects(harness, [["before a response", { fault: "stall" }, 1]]);

describeVendor(harness);
