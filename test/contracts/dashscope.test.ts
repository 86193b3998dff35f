import { describe, expect, test } from "bun:test";
import type { RequestedSize } from "../../src/domain/image.ts";
import { describeDisconnects, describeErrorRows, describeVendor } from "../support/vendor-contract.ts";
import { bmpReference, failureOf, describeImages, never, pngReference } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { SIMULATED_KEY, startDashscope } from "../upstreams/dashscope.ts";
import { row } from "../upstreams/error-rows.ts";

const bench = await openHarness({
  channel: "dashscope",
  variables: ["DASHSCOPE_API_KEY"],
  key: SIMULATED_KEY,
  start: startDashscope,
  path: "/api/v1",
  model: "qwen-image-2.0",
});
const { vendor, open, order, generate } = bench;
const IDS = ["qwen-image-2.0", "qwen-image-2.0-pro", "qwen-image-edit-plus", "qwen-image-edit-max"];

describe("a generation", () => {
  test("is exactly the JSON that the vendor knows, and its pictures are fetched without the credential", async () => {
    const reply = await generate({ wish: { kind: "tier", tier: "2K", ratio: "4:3" }, count: 2 });
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

  const wishes: RequestedSize[] = [
    { kind: "unset" },
    { kind: "exact", width: 100, height: 4000 },
    { kind: "exact", width: 9000, height: 9000 },
    { kind: "tier", tier: "4K", ratio: "21:9" },
  ];
  test.each(wishes)("or an edit of the size %j is one that each model takes", async (wish) => {
    for (const id of IDS) {
      const reply = await generate({ wish, references: [pngReference()] }, id);
      expect(reply.images).toHaveLength(1);
    }
  });

  test("by a model that only edits is told as rejected by the vendor", async () => {
    expect(await failureOf(generate({}, "qwen-image-edit-plus"))).toMatchObject({ kind: "rejected" });
  });
});

describe("an edit", () => {
  test("puts its references before the words and leaves the shape to the vendor where none was named", async () => {
    const references = [pngReference(), pngReference(60, 30)];
    const reply = await generate({ references }, "qwen-image-edit-plus");
    const { input, parameters } = vendor.hits[0]!.json();
    const link = `data:image/png;base64,${Buffer.from(await references[1]!.blob.bytes()).toString("base64")}`;
    const { content } = Object(input).messages[0];
    expect(content.slice(1)).toEqual([{ image: link }, { text: "a red fox" }]);
    expect(parameters).toEqual({ n: 1, watermark: false });
    expect(await describeImages(reply)).toEqual(["1456x720 png"]);
  });

  test("sends a picture the vendor does not read as PNG", async () => {
    await generate({ references: [bmpReference()] });
    expect(vendor.hits[0]!.body.toString()).toContain('{"image":"data:image/png;base64,');
  });

  test("by a model of one image a call sends no count, and fans out where the channel says so", async () => {
    const single = order({ count: 2, references: [pngReference()] });
    const base = { ...single.model, image: { ...single.model.image, maxImagesPerCall: 1 } };
    const asked = { ...single, model: base, upstreamModel: "qwen-image-edit" };
    expect((await open().generate(asked, never)).images).toHaveLength(1);
    expect(vendor.hits[0]!.json()["parameters"]).toEqual({ watermark: false });
    expect((await open({ fanOut: true }).generate(asked, never)).images).toHaveLength(2);
  });
});

describeErrorRows(
  bench,
  [
    ["InvalidParameter", "rejected"],
    ["InvalidParameter.DataInspection", "rejected"],
    ["DataInspectionFailed", "refused"],
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
  test("tells the caller what the vendor said, without its names", async () => {
    vendor.next(row("DataInspectionFailed"));
    expect((await failureOf(generate())).publicMessage).toBe("Input data may contain inappropriate content.");
  });

  test("of some links costs their pictures only", async () => {
    const gone = { fault: "error-status", status: 404 } as const;
    vendor.next(
      { linkBehaviours: [gone, gone] },
      { linkBehaviours: [gone] },
      { linkBehaviours: [gone, gone] },
    );
    expect((await generate({ count: 3 })).images).toHaveLength(2);
    expect((await generate({ count: 3 })).images).toHaveLength(3);
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
  });

  test("to give a picture is told as broken; fewer or more than asked are given as they came", async () => {
    vendor.next("no-images", { images: 1 }, { images: 4 });
    expect(await failureOf(generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect((await generate({ count: 3 })).images).toHaveLength(1);
    expect((await generate({ count: 3 })).images).toHaveLength(4);
  });
});

describeDisconnects(bench, [
  ["while the vendor is silent", { fault: "stall" }, 1],
  ["while the picture is on its way", { linkBehaviours: [{ fault: "stall-midway" }] }, 2],
]);

describeVendor(bench);
