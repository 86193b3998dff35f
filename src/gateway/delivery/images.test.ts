import { describe, expect, test } from "bun:test";
import type { ImageReply, ImageRequest } from "../../domain/image.ts";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../../domain/organization.ts";
import {
  DERIVED_HEIC,
  PHONE_HEIC,
  PHONE_TIFF,
  TURNED_HEIC,
} from "../../../test/support/encoded-pictures.table.ts";
import { makePng } from "../../../test/support/pictures.ts";
import { FairSemaphore } from "../../lib/semaphore.ts";
import { readImageHeader } from "../../imaging/sniff.ts";
import { deliver, readPictures, type DeliveryRequest, type DeliverySettings } from "./images.ts";

/** Noise: lossless compression hardly reduces its size, lossy compression clearly does. */
const noise = makePng(96, 96, {
  pixel: (x, y) => [(x * 57 + y * 131) & 255, (x * y) & 255, (x * 29) & 255, 255],
});
const jpeg = await new Bun.Image(noise).jpeg({ quality: 95 }).blob();

const settings = {
  codecSlots: new FairSemaphore(1),
} as Partial<DeliverySettings> as DeliverySettings;

async function delivery(
  fields: Partial<ImageRequest>,
  reply: Partial<ImageReply> = {},
  sent: DeliveryRequest["sent"] = {},
) {
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
  const { images = [jpeg] } = reply;
  return await deliver(settings, {
    request,
    reply: { images, ...reply },
    pictures: await readPictures(images),
    sent,
    base: "",
    settings: DEFAULT_ORGANIZATION_SETTINGS,
    organizationId: "o",
  });
}

async function delivered(fields: Partial<ImageRequest>, reply: Partial<ImageReply> = {}): Promise<Blob> {
  const { images } = await delivery(fields, reply);
  expect(images).toHaveLength(1);
  return images[0]!.blob;
}

test("a vendor's file that is not a picture is left out, and the others are delivered", async () => {
  const none = new Blob(["<Error>Expired</Error>"]);
  expect((await readPictures([none, jpeg, none, jpeg])).map(({ blob }) => blob)).toEqual([jpeg, jpeg]);
  await expect(readPictures([none, none])).rejects.toMatchObject({ kind: "broken" });
});

test.each([
  ["clipped HEIC", PHONE_HEIC, 33, 17],
  ["turned HEIC", TURNED_HEIC, 17, 33],
  ["HEIC derived from a larger picture", DERIVED_HEIC, 33, 17],
  ["TIFF", PHONE_TIFF, 33, 17],
])("the size of a vendor's %s is that of the delivered file", async (_, bytes, width, height) => {
  const found = await delivery({}, { images: [new Blob([bytes])] });
  expect(found).toMatchObject({ width, height, format: "png" });
  expect(await readImageHeader(found.images[0]!.blob)).toMatchObject({ width, height });
});

describe("a fact that the vendor does not report", () => {
  test.each([
    [{ quality: "high", background: "transparent" }, {}, "high", "opaque"],
    [{}, {}, "auto", "opaque"],
    [{ quality: "high" }, { quality: "low" }, "low", "opaque"],
  ])("of %o answered by %o is %s and %s", async (sent, reply, quality, background) => {
    expect(await delivery({}, reply, sent)).toMatchObject({ quality, background });
  });

  test("about a background is read from the picture", async () => {
    const clear = new Blob([makePng(8, 8, { pixel: () => [0, 0, 0, 0] })]);
    const sent = { background: "transparent" };
    expect(await delivery({}, { images: [clear] }, sent)).toMatchObject({ background: "transparent" });
    expect(await delivery({ format: "jpeg" }, { images: [clear] }, sent)).toMatchObject({
      background: "opaque",
    });
  });
});

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
