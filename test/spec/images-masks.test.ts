import { describe, expect, test } from "bun:test";
import { dataUrl, grain, MODELS, openEditFixture, randomBytes, ONE, TWO } from "../support/edit-gateway.ts";
import { makePng, type Pixel } from "../support/pictures.ts";

type Colour = ReturnType<Pixel>;

/* Masks, and compression of input pictures. */
const MASK = makePng(40, 30, { pixel: (x) => [0, 0, 0, x < 20 ? 0 : 255] });

const { edit, editByForm, sentFiles, refused, proveNothingBilled } = await openEditFixture();

describe("a mask", () => {
  test.each(["mask", "mask[]"])(
    "is accepted as %s, in JSON and in forms, in every encoding",
    async (field) => {
      for (const value of [
        dataUrl(MASK),
        MASK.toString("base64"),
        { image_url: dataUrl(MASK) },
        [dataUrl(MASK)],
      ])
        expect(await sentFiles(edit({ image: dataUrl(ONE), [field]: value }))).toEqual([
          ["image", ONE],
          ["mask", MASK],
        ]);
      expect(
        await sentFiles(
          editByForm([
            ["image", ONE],
            [field, MASK],
          ]),
        ),
      ).toEqual([
        ["image", ONE],
        ["mask", MASK],
      ]);
      expect(
        await sentFiles(
          editByForm([
            [field, MASK],
            ["image[]", ONE],
            ["image[]", TWO],
          ]),
        ),
      ).toEqual([
        ["image[]", ONE],
        ["image[]", TWO],
        ["mask", MASK],
      ]);
    },
  );

  test.each(["B", "C", "D"] as const)("is ignored on family %s, valid or not", async (family) => {
    for (const mask of [
      dataUrl(MASK),
      dataUrl(Buffer.from("no picture at all")),
      [dataUrl(MASK), dataUrl(MASK)],
      "not base64 !!",
      { file_id: "file-abc123" },
    ]) {
      const { status, headers } = await edit({ model: MODELS[family], image: dataUrl(ONE), mask });
      expect([status, headers.get("x-gateway-ignored-params")]).toEqual([200, "mask"]);
    }
  });

  test.each<[string, object, string]>([
    ["two of one name", { mask: [dataUrl(MASK), dataUrl(MASK)] }, "invalid_image"],
    ["one of each name", { mask: dataUrl(MASK), "mask[]": dataUrl(MASK) }, "invalid_image"],
    ["another size than image 1", { mask: dataUrl(makePng(41, 30)) }, "invalid_image"],
    ["no transparency to speak of", { mask: dataUrl(makePng(40, 30, { hasAlpha: false })) }, "invalid_image"],
    ["no picture", { mask: dataUrl(Buffer.from("hello, I am a text")) }, "invalid_image"],
    ["no base64", { mask: "***" }, "invalid_image"],
    ["a file id", { mask: { file_id: "file-abc123" } }, "unsupported_file_reference"],
  ])("with %s is refused", async (_, mask, code) => {
    await refused(edit({ image: dataUrl(ONE), ...mask }), { param: "mask", code });
  });

  test("that is no PNG is refused", async () => {
    const webp = Buffer.from(await new Bun.Image(MASK).webp().bytes());
    await refused(edit({ image: dataUrl(ONE), mask: dataUrl(webp) }), {
      param: "mask",
      code: "invalid_image",
    });
  });

  test("twice in a form is refused", async () => {
    await refused(
      editByForm([
        ["image", ONE],
        ["mask", MASK],
        ["mask[]", MASK],
      ]),
      { param: "mask", code: "invalid_image" },
    );
  });
});

describe("x-input-image-compress", () => {
  const photo = async (format: "jpeg" | "webp" | "png") => {
    const image = new Bun.Image(makePng(640, 480, { pixel: grain }));
    const encoded =
      format === "png"
        ? image.png()
        : format === "jpeg"
          ? image.jpeg({ quality: 100 })
          : image.webp({ quality: 100 });
    return Buffer.from(await encoded.bytes());
  };
  const compress = { "x-input-image-compress": "true" };

  test.each(["jpeg", "webp", "png"] as const)(
    "makes a large %s smaller, keeping format and size",
    async (format) => {
      const original = await photo(format);
      const [[, bytes] = []] = await sentFiles(editByForm([["image", original]], compress));
      expect(bytes!.byteLength).toBeLessThan(original.byteLength);
      const { width, height, format: sentFormat } = await new Bun.Image(bytes!).metadata();
      expect({ width, height, format: sentFormat as string }).toEqual({ width: 640, height: 480, format });
    },
  );

  test("keeps a small picture, and one that would not get smaller", async () => {
    const noise = makePng(200, 200, { pixel: () => [...randomBytes(4)] as unknown as Colour });
    for (const bytes of [ONE, noise])
      expect(await sentFiles(edit({ image: dataUrl(bytes) }, compress))).toEqual([["image", bytes]]);
  });

  test.each(["maybe", "1", "TRUE", "false", ""])("with the value %p changes nothing", async (value) => {
    const original = await photo("jpeg");
    expect(await sentFiles(edit({ image: dataUrl(original) }, { "x-input-image-compress": value }))).toEqual([
      ["image", original],
    ]);
  });

  test("never touches a mask", async () => {
    const [image, mask] = [
      await photo("png"),
      makePng(640, 480, { pixel: (x, y) => [grain(x, y)[0], 0, 0, x & 255] }),
    ];
    const files = await sentFiles(
      editByForm(
        [
          ["image", image],
          ["mask", mask],
        ],
        compress,
      ),
    );
    expect(files[1]).toEqual(["mask", mask]);
  });
});

proveNothingBilled();
