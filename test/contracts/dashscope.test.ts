import { describe, expect, test } from "bun:test";
import type { RequestedSize } from "../../src/domain/image.ts";
import { referenceLimit } from "../../src/domain/model.ts";
import { describeDisconnects, describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import {
  bmpReference,
  failureOf,
  describeImages,
  imageModel,
  never,
  pngReference,
  shippedSettings,
} from "../support/image-calls.ts";
import { until } from "../support/gateway.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { SIMULATED_KEY, startDashscope } from "../upstreams/dashscope.ts";
import { row } from "../upstreams/error-rows.ts";

const harness = await openHarness({
  channel: "dashscope",
  variables: ["DASHSCOPE_API_KEY"],
  key: SIMULATED_KEY,
  start: startDashscope,
  path: "/api/v1",
  model: "qwen-image-2.0",
});
const { vendor, open, order, generate, calls } = harness;
const IDS = ["qwen-image-2.0", "qwen-image-2.0-pro", "qwen-image-edit-plus", "qwen-image-edit-max"];

describe("a generation", () => {
  test("sends exactly the documented JSON and fetches its pictures without the credential", async () => {
    const reply = await generate({ requestedSize: { kind: "tier", tier: "2K", ratio: "4:3" }, count: 2 });
    const body =
      '{"model":"qwen-image-2.0","input":{"messages":[{"role":"user","content":[{"text":"a red fox"}]}]},' +
      '"parameters":{"size":"2304*1728","n":2,"watermark":false}}';
    expect(vendor.hits[0]!.body.toString()).toBe(body);
    expect(vendor.hits[0]!.path).toBe("/api/v1/services/aigc/multimodal-generation/generation");
    expect(vendor.hits[0]!.headers["authorization"]).toBe(`Bearer ${SIMULATED_KEY}`);
    expect(vendor.hits.slice(1).every(({ headers }) => !("authorization" in headers))).toBe(true);
    expect(await describeImages(reply)).toEqual(["2304x1728 png", "2304x1728 png"]);
    expect(reply.usage).toBeUndefined();
  });

  const requestedSizes: RequestedSize[] = [
    { kind: "unset" },
    { kind: "exact", width: 100, height: 4000 },
    { kind: "exact", width: 9000, height: 9000 },
    { kind: "tier", tier: "4K", ratio: "21:9" },
  ];
  test.each(requestedSizes)("or an edit of the size %j is valid for every model", async (requestedSize) => {
    for (const id of IDS) {
      const reply = await generate({ requestedSize, references: [pngReference()] }, id);
      expect(reply.images).toHaveLength(1);
    }
  });

  test("by a model that only edits is rejected by the vendor", async () => {
    expect(await failureOf(generate({}, "qwen-image-edit-plus"))).toMatchObject({ kind: "rejected" });
  });
});

describe("an edit", () => {
  test("sends references before the text, and no size where none is requested", async () => {
    const references = [pngReference(), pngReference(60, 30)];
    const reply = await generate({ references }, "qwen-image-edit-plus");
    const { input, parameters } = vendor.hits[0]!.json();
    const link = `data:image/png;base64,${Buffer.from(await references[1]!.blob.bytes()).toString("base64")}`;
    const { content } = Object(input).messages[0];
    expect(content.slice(1)).toEqual([{ image: link }, { text: "a red fox" }]);
    expect(parameters).toEqual({ n: 1, watermark: false });
    expect(await describeImages(reply)).toEqual(["1456x720 png"]);
  });

  test("sends a format that the vendor does not read as PNG", async () => {
    await generate({ references: [bmpReference()] });
    expect(vendor.hits[0]!.body.toString()).toContain('{"image":"data:image/png;base64,');
  });

  test("by a model of one image a call sends no count, and fans out where the channel does", async () => {
    const single = order({ count: 2, references: [pngReference()] });
    const base = { ...single.model, image: { ...single.model.image, maxImagesPerCall: 1 } };
    const requested = { ...single, model: base, upstreamModel: "qwen-image-edit" };
    expect((await open().generate(requested, never)).images).toHaveLength(1);
    expect(vendor.hits[0]!.json()["parameters"]).toEqual({ watermark: false });
    expect((await open({ fanOut: true }).generate(requested, never)).images).toHaveLength(2);
  });
});

describe("a task", () => {
  const settings = { tasks: true, pollIntervalMs: 5 };

  test("is the same request, submitted, polled and fetched", async () => {
    const reply = await open(settings).generate(order({ count: 2 }), never);
    expect(reply.images).toHaveLength(2);
    expect(calls().slice(0, 2)).toEqual([
      "POST /api/v1/services/aigc/image-generation/generation",
      "GET /api/v1/tasks/*",
    ]);
    expect(vendor.hits[0]!.headers["x-dashscope-async"]).toBe("enable");
  });

  test("of a process that has ended is looked up by its id, and not submitted again", async () => {
    let saved = "";
    const record = (id: string | null) => ({
      id,
      isLost: false,
      save: async (given: string) => void (saved = given),
      isHandedOver: () => true,
    });
    const lost = AbortSignal.timeout(40);
    vendor.next({ polls: 1000 });
    await open(settings)
      .generate({ ...order(), vendorJobs: () => record(null) }, lost)
      .catch(() => undefined);
    expect(saved).toStartWith("job-");
    const before = vendor.jobs.all.length;
    const job = vendor.jobs.find(saved)!;
    while (!job.poll());
    const reply = await open(settings).generate({ ...order(), vendorJobs: () => record(saved) }, never);
    expect(reply.images).toHaveLength(1);
    expect(vendor.jobs.all).toHaveLength(before);
  });

  test.each([
    ["DataInspectionFailed", "refused"],
    ["data_inspection_failed", "refused"],
    ["InvalidParameter", "rejected"],
    ["Throttling", "limited"],
    ["InternalError.Algo", "overloaded"],
    ["CANCELED", "overloaded"],
    ["UNKNOWN", "overloaded"],
  ] as const)("that ends with %s is %s", async (outcome, kind) => {
    vendor.next({ outcome });
    const failure = await failureOf(open(settings).generate(order(), never));
    expect(failure).toMatchObject({ kind, isAmbiguous: false });
  });

  test("whose caller disconnects is cancelled as long as it does not run", async () => {
    vendor.next({ polls: 1000 });
    const waiting = { tasks: true, pollIntervalMs: 10_000 };
    const caller = new AbortController();
    const generating = open(waiting).generate(order(), caller.signal);
    await until("a task", () => (vendor.jobs.all.length > 0 ? true : undefined));
    caller.abort(new Error("gone"));
    expect(await generating.catch(() => "ended")).toBe("ended");
    await until("the cancellation", () => (vendor.jobs.all.at(-1)?.isCancelled ? true : undefined));
  });
});

describe("the catalogue", () => {
  test("has a channel for keys of each region, and every model at both", async () => {
    const both = await shippedSettings({ DASHSCOPE_API_KEY: "k1", DASHSCOPE_INTL_API_KEY: "k2" });
    expect(both.channels.get("dashscope")?.settings).toMatchObject({ region: "cn", apiKey: "k1" });
    expect(both.channels.get("dashscope-global")?.settings).toMatchObject({ region: "global", apiKey: "k2" });
    for (const id of IDS)
      expect(imageModel(both, id).targets.map(({ channel }) => channel.id)).toEqual([
        "dashscope",
        "dashscope-global",
      ]);
    const abroad = await shippedSettings({ DASHSCOPE_INTL_API_KEY: "k2" });
    expect([...abroad.channels.keys()]).toEqual(["dashscope-global"]);
    expect(imageModel(abroad, IDS[0]!).targets).toHaveLength(1);
  });

  test("says that every model takes three references, as the vendor does", async () => {
    for (const id of IDS) {
      expect(referenceLimit(imageModel(harness.settings, id).model)).toBe(3);
      const references = [pngReference(), pngReference(), pngReference()];
      expect((await generate({ references }, id)).images).toHaveLength(1);
    }
  });
});

describeErrorRows(
  harness,
  [
    ["InvalidParameter", "rejected"],
    ["InvalidParameter.DataInspection", "rejected"],
    ["DataInspectionFailed", "refused"],
    ["data_inspection_failed", "refused"],
    ["IPInfringementSuspect", "refused"],
    ["Arrearage", "account"],
    ["InvalidApiKey", "account"],
    ["AccessDenied.Unpurchased", "account"],
    ["ModelNotFound", "account"],
    ["Throttling", "limited"],
    ["Throttling.RateQuota", "limited"],
    ["Throttling.AllocationQuota", "limited"],
    ["InternalError", "overloaded"],
    ["InternalError.Algo", "overloaded"],
    ["ServiceUnavailable", "overloaded"],
    ["Unknown", "broken"],
  ],
  { inSuccess: true },
);

describe("a failure", () => {
  test("has the vendor's message without its names", async () => {
    vendor.next(row("DataInspectionFailed"));
    expect((await failureOf(generate())).publicMessage).toBe("Input data may contain inappropriate content.");
  });

  test("of some links does not affect the other pictures", async () => {
    const missing = { fault: "error-status", status: 404 } as const;
    vendor.next(
      { linkBehaviours: [missing, missing] },
      { linkBehaviours: [missing] },
      { linkBehaviours: [missing, missing] },
    );
    expect((await generate({ count: 3 })).images).toHaveLength(2);
    expect((await generate({ count: 3 })).images).toHaveLength(3);
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
  });

  test("to return a picture is broken; fewer or more than requested are returned as they came", async () => {
    vendor.next("no-images", { images: 1 }, { images: 4 });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect((await generate({ count: 3 })).images).toHaveLength(1);
    expect((await generate({ count: 3 })).images).toHaveLength(4);
  });
});

describeDisconnects(harness, [
  ["before a response", { fault: "stall" }, 1],
  ["during the fetch of the picture", { linkBehaviours: [{ fault: "stall-midway" }] }, 2],
]);

describeVendor(harness);
