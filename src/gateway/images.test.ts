import { describe, expect, test } from "bun:test";
import { makePng } from "../../test/support/pictures.ts";
import { plainCore, type PlainCoreOptions } from "../../test/support/plain-core.ts";
import { testSpool } from "../../test/support/spool.ts";
import type { ImageRequest } from "../domain/image.ts";
import type { ImageModel } from "../domain/model.ts";
import type { OrganizationSettings } from "../domain/organization.ts";
import type { ImagePrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { FairSemaphore } from "../lib/semaphore.ts";
import { untilAborted } from "../lib/waiting.ts";
import { handleImages, type ImageCore } from "./images.ts";
import type { ImageUpstream } from "./upstreams.ts";
import { ClientDisconnected } from "./routing/call.ts";

const MODEL: ImageModel = {
  id: "m",
  type: "image",
  displayName: "M",
  ownedBy: "us",
  created: 0,
  isRetired: false,
  family: "D",
  image: {
    sizeMode: "table",
    tiers: ["1K"],
    ratios: ["1:1"],
    sizes: { "1K": { "1:1": "1024x1024" } },
    qualities: [],
    formats: ["png"],
    backgrounds: [],
    maxImagesPerCall: 4,
  },
};
const PRICE: ImagePrice = {
  unit: "image",
  currency: "USD",
  perImage: { "1K": { "*": { amount: 40n, source: "default", effectiveFrom: 0 } } },
};
const png = new Blob([makePng(8, 8)]);
const oneK = new Blob([makePng(1024, 1024)]);
const twoK = new Blob([makePng(2048, 2048)]);

/** A model with tiers and qualities, each with its own price. */
const TIERED: ImageModel = {
  ...MODEL,
  family: "A",
  image: {
    ...MODEL.image,
    sizeMode: "pixels",
    tiers: ["1K", "2K"],
    sizes: { "1K": { "1:1": "1024x1024" }, "2K": { "1:1": "2048x2048" } },
    bounds: { multiple: 16, minPixels: 65_536, maxPixels: 16_777_216, maxEdge: 4_096, maxRatio: 3 },
    qualities: ["low", "high"],
  },
};
const cells = (low: bigint, high: bigint) => ({
  low: { amount: low, source: "default", effectiveFrom: 0 } as const,
  high: { amount: high, source: "default", effectiveFrom: 0 } as const,
});
const TIERED_PRICE: ImagePrice = {
  unit: "image",
  currency: "USD",
  perImage: { "1K": cells(1n, 3n), "2K": cells(10n, 30n) },
};

const REQUEST: ImageRequest = {
  model: "m",
  prompt: "a lighthouse",
  size: { kind: "unset" },
  count: 2,
  delivery: "b64_json",
  references: [],
  compressReferences: false,
  ignored: [],
};

const giving = (count: number): ImageUpstream => ({
  generate: async () => ({ images: Array.from({ length: count }, () => png) }),
});
const failing = (error: Error): ImageUpstream => ({ generate: () => Promise.reject(error) });

function open(
  images: readonly ImageUpstream[],
  { isStored = true, ...options }: Partial<PlainCoreOptions> & { isStored?: boolean } = {},
) {
  const plain = plainCore({ model: MODEL, price: PRICE, images, budget: 1_000n, ...options });
  const unused = () => Promise.reject(new Error("not used by these requests"));
  const core: ImageCore = {
    ...plain.core,
    codecSlots: new FairSemaphore(1),
    blobs: { put: unused, get: unused, remove: unused, isAvailable: () => isStored },
    links: { sign: () => "", check: () => "invalid", isNew: () => false },
    safeFetch: { download: unused },
  };
  const handle = (context = plain.request(), fields: Partial<ImageRequest> = {}) =>
    handleImages(core, context, { ...REQUEST, ...fields }, { base: "", spool: testSpool });
  return { ...plain, core, handle };
}

test("a request for links is refused before a vendor is called while none could be stored", async () => {
  let calls = 0;
  const counting: ImageUpstream = { generate: async () => ({ images: [png], calls: calls++ }) };
  const { core, handle, request } = open([counting], { isStored: false });
  const linked = { ...REQUEST, delivery: "url" as const };
  const refused = handleImages(core, request(), linked, { base: "", spool: testSpool });
  await expect(refused).rejects.toMatchObject({ code: "dependency_unavailable" });
  expect(calls).toBe(0);
  expect((await handle()).delivery.images).toHaveLength(1);
});

test("what was delivered is charged, by the model's price", async () => {
  const { handle, charges, isAllGivenBack } = open([giving(2)]);
  const { delivery, requested } = await handle();
  expect([delivery.images.length, requested]).toEqual([2, 2]);
  expect(charges()).toMatchObject([{ amount: 80n, flags: [] }]);
  expect(await isAllGivenBack()).toBe(true);
});

test("fewer pictures than requested are charged by their number, flagged", async () => {
  const { handle, charges, isAllGivenBack } = open([giving(1)]);
  expect((await handle()).delivery.images).toHaveLength(1);
  expect(charges()).toMatchObject([{ amount: 40n, flags: ["partial"] }]);
  expect(await isAllGivenBack()).toBe(true);
});

test("more pictures than requested are neither delivered nor charged", async () => {
  const { handle, request, charges } = open([giving(4)]);
  const context = request();
  expect((await handle(context)).delivery.images).toHaveLength(2);
  expect(context.facts.surplus).toBe(2);
  expect(charges()).toMatchObject([{ amount: 80n }]);
});

test("the next target takes over, and its charge names it", async () => {
  const { handle, charges } = open([failing(new UpstreamError("overloaded", "busy")), giving(2)]);
  await handle();
  expect(charges()).toMatchObject([{ channel: "channel-1", amount: 80n }]);
});

test("a failure costs nothing", async () => {
  const { handle, charges, isAllGivenBack } = open([failing(new UpstreamError("rejected", "no"))]);
  await expect(handle()).rejects.toMatchObject({ kind: "rejected" });
  await expect(handle()).rejects.toMatchObject({ kind: "rejected" });
  expect(charges()).toEqual([]);
  expect(await isAllGivenBack()).toBe(true);
});

test("pictures whose charge cannot be recorded are not delivered", async () => {
  const { handle, journal, isAllGivenBack } = open([giving(2)]);
  journal.isWritable = false;
  await expect(handle()).rejects.toMatchObject({ code: "dependency_unavailable" });
  expect(await isAllGivenBack()).toBe(true);
});

test("a budget that covers one picture of two calls nobody", async () => {
  const { handle } = open([failing(new Error("called"))], { budget: 40n });
  await expect(handle()).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
});

describe("a client that disconnects", () => {
  /**
   * Prepares a request whose client disconnects while the vendor works. With `ends`, the vendor then finishes its
   * pictures.
   */
  function openAbandoned(settings: Partial<OrganizationSettings>, ends: boolean, orphanCostCap?: bigint) {
    const client = new AbortController();
    const upstream: ImageUpstream = {
      async generate(_, signal) {
        client.abort();
        if (!ends) await untilAborted(new Promise<never>(() => {}), signal);
        return { images: [png, png] };
      },
    };
    const opened = open([upstream], { settings, orphanCostCap });
    return { ...opened, context: opened.request(client.signal) };
  }

  test.each([
    ["while the vendor works", false],
    ["when the pictures are there", true],
  ])("%s pays nothing under abort; the cost is booked as orphan cost", async (_, ends) => {
    const { handle, context, charges, isAllGivenBack } = openAbandoned({ callerGone: "abort" }, ends);
    await expect(handle(context)).rejects.toBeInstanceOf(ClientDisconnected);
    expect(charges()).toMatchObject([
      { amount: 0n, orphanCost: 80n, usage: { count: 0 }, flags: ["partial", "caller_gone"] },
    ]);
    expect(await isAllGivenBack()).toBe(true);
  });

  test("while its pictures are stored pays nothing under abort", async () => {
    const client = new AbortController();
    const { core, request, charges } = open([giving(2)], { settings: { callerGone: "abort" } });
    const put = async () => {
      client.abort();
      return { name: "a" };
    };
    const blobs: ImageCore["blobs"] = { ...core.blobs, put };
    const linked = { ...REQUEST, delivery: "url" as const };
    const surroundings = { base: "", spool: testSpool };
    const served = handleImages({ ...core, blobs }, request(client.signal), linked, surroundings);
    await expect(served).rejects.toBeInstanceOf(ClientDisconnected);
    expect(charges()).toMatchObject([{ amount: 0n, orphanCost: 80n, flags: ["partial", "caller_gone"] }]);
  });

  test("pays for what was made under drain, flagged", async () => {
    const { core, handle, context, charges } = openAbandoned({ callerGone: "drain" }, true);
    await handle(context);
    const startedAt = performance.now();
    await core.detachedCalls.ended(5_000);
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect(charges()).toMatchObject([{ amount: 80n, orphanCost: 0n, flags: ["caller_gone"] }]);
  });

  test("too often is refused by the cap on orphan cost", async () => {
    const { handle, context, request } = openAbandoned({ callerGone: "abort" }, true, 80n);
    await expect(handle(context)).rejects.toBeInstanceOf(ClientDisconnected);
    await expect(handle(request())).rejects.toMatchObject({ code: "rate_limit_exceeded" });
  });
});

test.each([
  ["the chosen channel", "channel-2", "channel-2"],
  ["the next target, where the model has none on the chosen channel,", "elsewhere", "channel-1"],
])("after a timeout %s takes over", async (_, fallbackChannel, channel) => {
  const stalling: ImageUpstream = {
    generate: (_, signal) => untilAborted(new Promise<never>(() => {}), signal),
  };
  const settings = { fallbackAfterMs: 20, fallbackChannel };
  const { handle, charges } = open([stalling, giving(2), giving(2)], { settings });
  await handle();
  expect(charges()).toMatchObject([{ channel, amount: 80n }]);
});

test("each picture counts in the limits", async () => {
  const { handle } = open([giving(2)], { limits: { imagesPerMinute: 3 } });
  await handle();
  await expect(handle()).rejects.toMatchObject({ code: "rate_limit_exceeded" });
});

test("a call that may have made pictures is recorded with the price of all of them", async () => {
  const lost = new UpstreamError("unreachable", "reset", { isAmbiguous: true });
  const { handle, charges } = open([failing(lost), giving(1)]);
  await handle();
  expect(charges()).toMatchObject([{ amount: 40n, orphanCost: 80n }]);
});

const TWO_K = { kind: "tier", tier: "2K", ratio: "1:1" } as const;

test.each([
  ["of tier 2K", { quality: "high" }, twoK, undefined, 60n],
  ["that came smaller", { quality: "high" }, oneK, undefined, 6n],
  ["of a quality", { quality: "low" }, twoK, undefined, 20n],
  ["of the quality that the vendor chose", { quality: "auto" }, twoK, "low", 20n],
] as const)("pictures %s cost their own price", async (_, fields, image, quality, amount) => {
  const vendor: ImageUpstream = { generate: async () => ({ images: [image, image], quality }) };
  const { handle, request, charges } = open([vendor], { model: TIERED, price: TIERED_PRICE });
  await handle(request(), { size: TWO_K, ...fields });
  expect(charges()).toMatchObject([{ amount }]);
});

test("pictures of a quality hold the price of that quality", async () => {
  const { handle, request } = open([giving(2)], { model: TIERED, price: TIERED_PRICE, budget: 20n });
  const dear = handle(request(), { size: TWO_K, quality: "high" });
  await expect(dear).rejects.toMatchObject({ code: "BILLING_BLOCKED" });
  expect((await handle(request(), { size: TWO_K, quality: "low" })).delivery.images).toHaveLength(2);
});
