import { describe, expect, test } from "bun:test";
import { resolveSize } from "../../src/domain/size.ts";
import { failureOf, imageModel, never, pngReference, shippedSettings } from "../support/image-calls.ts";
import { openHarness } from "../support/vendor-harness.ts";
import { SIMULATED_KEY as FAL_KEY, startFal } from "../upstreams/fal.ts";
import { SIMULATED_KEY as OPENROUTER_KEY, startOpenRouter } from "../upstreams/openrouter.ts";
import { SIMULATED_KEY as REPLICATE_KEY, startReplicate } from "../upstreams/replicate.ts";

/* Image models at resellers. Each of these resellers must accept all options of the records of its models. */
const fal = await openHarness({
  channel: "fal",
  variables: ["FAL_KEY"],
  key: FAL_KEY,
  start: startFal,
  path: "",
  model: "gpt-image-2",
});
const replicate = await openHarness({
  channel: "replicate",
  variables: ["REPLICATE_API_TOKEN"],
  key: REPLICATE_KEY,
  start: startReplicate,
  path: "/v1",
  model: "gemini-3-pro-image",
});
const openrouter = await openHarness({
  channel: "openrouter",
  variables: ["OPENROUTER_API_KEY"],
  key: OPENROUTER_KEY,
  start: startOpenRouter,
  path: "/api/v1",
  model: "gpt-image-2",
});

const resellers = [fal, replicate, openrouter];
const cases = resellers.flatMap((harness) =>
  [...harness.settings.models.declared.values()]
    .filter((model) => model.type === "image")
    .map(({ id }) => [id, harness] as const),
);

describe("what the record offers is taken by the reseller", () => {
  test.each(cases)("%s", async (id, harness) => {
    const { model } = imageModel(harness.settings, id);
    const { tiers, ratios, qualities, sizeMode } = model.image;
    // All ratios are tested if the vendor has a list of ratios. Otherwise one is enough, because pictures take long.
    const isListed = harness === replicate || (harness === fal && sizeMode === "table");
    const shapes = isListed ? ratios : [ratios.at(-1)!];
    for (const ratio of shapes)
      await harness.generate({ requestedSize: { kind: "tier", tier: tiers[0]!, ratio } }, id);
    for (const tier of harness === openrouter ? [] : tiers.slice(1))
      await harness.generate({ requestedSize: { kind: "tier", tier, ratio: shapes.at(-1)! } }, id);
    for (const quality of qualities.length > 0 ? [...qualities, "auto"] : [])
      await harness.generate({ quality }, id);
    if (sizeMode === "pixels")
      await harness.generate({ requestedSize: { kind: "exact", width: 100, height: 4000 } }, id);
    expect((await harness.generate({ references: [pngReference()] }, id)).images).toHaveLength(1);
  });

  test("with sizes that its table has at each tier", () => {
    for (const [id, { settings }] of cases) {
      const { image } = imageModel(settings, id).model;
      for (const tier of image.tiers)
        for (const ratio of image.ratios)
          expect(resolveSize({ kind: "tier", tier, ratio }, image)).toMatchObject({ tier, ratio });
    }
  });
});

describe("a quality", () => {
  test("is told to a reseller whose model has them, and `auto` as the one that is billed", async () => {
    expect((await fal.generate({ quality: "low" })).quality).toBe("low");
    expect((await fal.generate({ quality: "auto" })).quality).toBe("high");
    const submitted = fal.vendor.hits.filter(({ method }) => method === "POST").map((hit) => hit.json());
    expect(submitted.map(({ quality }) => quality)).toEqual(["low", "high"]);
    const told = await openrouter.generate({ quality: "auto" }, "grok-imagine-image-2.0");
    expect(told.quality).toBe("medium");
    expect(openrouter.vendor.hits[0]!.json()).toMatchObject({ quality: "medium", resolution: "1K" });
    expect((await fal.generate({}, "qwen-image-2.0")).quality).toBeUndefined();
    expect(fal.vendor.hits.findLast(({ method }) => method === "POST")!.json()).not.toHaveProperty("quality");
  });
});

describe("what a reseller lacks is refused unsent, so that the next target gets it", () => {
  test("more references than it uses", async () => {
    const references = Array.from({ length: 11 }, () => pngReference());
    const failure = await failureOf(fal.generate({ references }, "seedream-4-5"));
    expect(failure).toMatchObject({ kind: "rejected", isUnsent: true, param: "image" });
    expect(fal.vendor.hits).toHaveLength(0);
    const ten = fal.open().generate(fal.order({ references: references.slice(1) }, "seedream-4-5"), never);
    expect((await ten).images).toHaveLength(1);
  });

  test("a mask", async () => {
    const edit = { references: [pngReference()], mask: pngReference() };
    for (const harness of [fal, openrouter])
      expect(await failureOf(harness.generate(edit, "gpt-image-2"))).toMatchObject({
        isUnsent: true,
        param: "mask",
      });
  });
});

test("the vendor itself comes first in a route, whichever keys are set", async () => {
  const settings = await shippedSettings({
    FAL_KEY: "k",
    OPENAI_API_KEY: "k",
    OPENROUTER_API_KEY: "k",
    REPLICATE_API_TOKEN: "k",
    GEMINI_API_KEY: "k",
  });
  const routeOf = (id: string) => imageModel(settings, id).targets.map(({ channel }) => channel.id);
  expect(routeOf("gpt-image-2")).toEqual(["openai", "fal", "openrouter"]);
  expect(routeOf("gemini-3-pro-image")).toEqual(["gemini", "fal", "openrouter", "replicate"]);
});
