import { expect, test } from "bun:test";
import { makeBmp, makePng, makeTiff } from "../../../test/support/pictures.ts";
import type { ReferenceImage } from "../../domain/image.ts";
import { readImageHeader } from "../../imaging/sniff.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { fitReferences, type ReferenceRules } from "./reference-image.ts";

const RULES: ReferenceRules = { formats: ["png", "jpeg", "webp"], maxBytes: 7_000_000 };
const slots = createSemaphore(1);
const never = new AbortController().signal;

/** Makes a picture that no codec compresses well. */
function noise(width: number, hasAlpha: boolean): Buffer<ArrayBuffer> {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) & 255;
  return makePng(width, width, { hasAlpha, pixel: () => [random(), random(), random(), random()] });
}

function reference(bytes: Buffer<ArrayBuffer>, format: ReferenceImage["format"]): ReferenceImage {
  return { blob: new Blob([bytes]), format, width: 0, height: 0 };
}

async function fit(one: ReferenceImage, rules = RULES): Promise<ReferenceImage> {
  const [fitting] = await fitReferences([one], rules, slots, never);
  return fitting!;
}

test("a picture that fits stays unchanged", async () => {
  const png = reference(makePng(4, 4), "png");
  expect(await fit(png)).toBe(png);
});

test("a format the vendor does not read is encoded without loss", async () => {
  const { blob, format } = await fit(reference(makeBmp(6, 5), "bmp"));
  expect([format, (await readImageHeader(blob)).format]).toEqual(["png", "png"]);
  const jpegOnly: ReferenceRules = { formats: ["jpeg"], maxBytes: 1e6 };
  expect((await fit(reference(makePng(4, 4), "png"), jpegOnly)).format).toBe("jpeg");
});

test.each([
  [false, "jpeg"],
  [true, "webp"],
] as const)("a picture that is too large shrinks, alpha %p as %s", async (hasAlpha, expected) => {
  const large = reference(noise(128, hasAlpha), "png");
  const maxBytes = Math.floor(large.blob.size * 0.9);
  const { blob, format } = await fit(large, { ...RULES, maxBytes });
  expect(blob.size).toBeLessThanOrEqual(maxBytes);
  expect([format, (await readImageHeader(blob)).format]).toEqual([expected, expected]);
});

test("a picture that cannot be made to fit is rejected with its index", async () => {
  const fine = reference(makePng(4, 4), "png");
  const large = reference(noise(64, false), "png");
  await expect(fitReferences([fine, large], { ...RULES, maxBytes: 500 }, slots, never)).rejects.toMatchObject(
    {
      kind: "rejected",
      param: "image",
      publicMessage: "Image 2 is too large for this model; send a smaller one.",
    },
  );
  const unreadable = reference(makeTiff(4, 4), "tiff");
  await expect(fitReferences([unreadable], RULES, slots, never)).rejects.toMatchObject({
    kind: "rejected",
    param: "image",
    publicMessage: "Image 1 is in a format that this model does not read; send it as PNG or JPEG.",
  });
});
