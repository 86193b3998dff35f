import { describe, expect, test } from "bun:test";
import type { ImageReply, ImageRequest } from "../../domain/image.ts";
import { makePng } from "../../../test/support/pictures.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { deliver, type DeliverySettings } from "./images.ts";

/** A picture that compresses badly, so that its compression shows in its size. */
const noise = makePng(96, 96, {
  pixel: (x, y) => [(x * 57 + y * 131) & 255, (x * y) & 255, (x * 29) & 255, 255],
});
const jpeg = await new Bun.Image(noise).jpeg({ quality: 95 }).blob();

const settings = {
  codecSlots: createSemaphore(1),
} as Partial<DeliverySettings> as DeliverySettings;

async function delivered(fields: Partial<ImageRequest>, reply: Partial<ImageReply> = {}): Promise<Blob> {
  const request: ImageRequest = {
    model: "m",
    prompt: "x",
    size: { kind: "unset" },
    count: 1,
    delivery: "b64_json",
    references: [],
    compressReferences: false,
    ignored: [],
    ...fields,
  };
  const { images } = await deliver(settings, {
    request,
    reply: { images: [jpeg], ...reply },
    sent: {},
    base: "",
    settings: {
      forceImageUrls: null,
      nativeImageUrls: false,
      fallbackAfterMs: null,
      callerGone: "abort",
      failOverRefusals: false,
    },
    organizationId: "o",
  });
  expect(images).toHaveLength(1);
  return images[0]!.blob;
}

describe("a compression", () => {
  test.each([{ format: "jpeg" }, {}] as const)(
    "that no vendor applied is applied here: %o",
    async (fields) => {
      expect((await delivered({ ...fields, compression: 5 })).size).toBeLessThan(jpeg.size / 2);
    },
  );

  test("works on a format made here, too", async () => {
    const [coarse, fine] = [
      await delivered({ format: "webp", compression: 5 }),
      await delivered({ format: "webp", compression: 100 }),
    ];
    expect(coarse.size).toBeLessThan(fine.size / 2);
  });

  test("that the vendor applied, or that is none, leaves the picture as it came", async () => {
    expect(await delivered({ compression: 5 }, { isCompressed: true })).toBe(jpeg);
    expect(await delivered({ compression: 100 })).toBe(jpeg);
    expect(await delivered({})).toBe(jpeg);
  });
});
