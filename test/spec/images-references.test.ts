import { describe, expect, test } from "bun:test";
import { REFERENCE_FIELDS, textsOf } from "../support/images-forms.ts";
import {
  dataUrl,
  grain,
  LIMITS,
  listen,
  MODELS,
  openEditFixture,
  randomBytes,
  ONE,
  THREE,
  TWO,
} from "../support/edit-gateway.ts";
import { makeBmp, makePng, pngChunk } from "../support/pictures.ts";

/* Reference images of an edit: their field names, encodings and number. */
/** A picture with one pixel and one frame. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAAAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const { fixture, edit, editByForm, sent, sentByForm, sentRaw, refused, proveNothingBilled } =
  await openEditFixture();

describe("a reference in JSON comes", () => {
  test.each(REFERENCE_FIELDS)("under the name %s, as one string or as a list", async (field) => {
    expect(await sent({ [field]: dataUrl(ONE) })).toEqual([ONE]);
    expect(await sent({ [field]: [dataUrl(ONE), dataUrl(TWO)] })).toEqual([ONE, TWO]);
  });

  test.each([
    ["a data URL", dataUrl(ONE)],
    ["a data URL in capitals", dataUrl(ONE).replace("data:", "DATA:").replace("base64", "BASE64")],
    ["a data URL with parameters", dataUrl(ONE).replace(";base64", ";charset=utf-8;base64")],
    ["a data URL that names another type", dataUrl(ONE, "image/jpeg")],
    ["a data URL without a type", dataUrl(ONE).replace("image/png", "")],
    ["raw base64", ONE.toString("base64")],
    ["raw base64 of the other alphabet", ONE.toString("base64url")],
    ["raw base64 without padding", ONE.toString("base64").replace(/=+$/, "")],
    ["raw base64 in lines", ONE.toString("base64").replace(/.{76}/g, "$&\r\n")],
    ["raw base64 with spaces", ` ${ONE.toString("base64").replace(/.{40}/g, "$& ")} `],
    ["an object with image_url", { image_url: dataUrl(ONE) }],
    ["an object with a nested url", { type: "image_url", image_url: { url: dataUrl(ONE), detail: "high" } }],
    ["an object with url", { url: dataUrl(ONE) }],
  ])("as %s", async (_, image) => {
    expect(await sent({ image })).toEqual([ONE]);
    expect(await sent({ images: [image, dataUrl(TWO)] })).toEqual([ONE, TWO]);
  });

  test("large, in every form of base64", async () => {
    const large = makePng(200, 200, { pixel: grain, chunks: [pngChunk("teSt", randomBytes(200_000))] });
    for (const text of [dataUrl(large), large.toString("base64"), large.toString("base64url"), lines(large)])
      expect(await sent({ images: [dataUrl(ONE), { image_url: text }, text] })).toEqual([ONE, large, large]);
  });

  test("under several names in the order of the body", async () => {
    const fields = {
      image_urls: [dataUrl(THREE)],
      image: dataUrl(ONE),
      input_images: [{ image_url: dataUrl(TWO) }],
    };
    expect(await sent(fields)).toEqual([THREE, ONE, TWO]);
  });

  test("as a link to a result of the gateway, which is read from storage", async () => {
    const made = await fixture.gateway.call("/v1/images/generations", {
      body: { model: "sandbox-a", prompt: "x", quality: "low" },
    });
    const { data } = (await made.json()) as { data: { url: string }[] };
    const { url } = data[0]!;
    const bytes = Buffer.from(await (await fetch(url)).bytes());
    const elsewhere = url.replace(/^http:\/\/[^/]+/, "https://gateway.example");
    expect(await sent({ images: [url, { image_url: { url } }, elsewhere] })).toEqual([bytes, bytes, bytes]);
  });

  test("absent when it is null", async () => {
    expect(await sent({ image: dataUrl(ONE), images: null, image_url: null, mask: null })).toEqual([ONE]);
    expect(await sent({ images: [{ file_id: null, image_url: dataUrl(TWO) }] })).toEqual([TWO]);
  });
});

describe("a reference in a form comes", () => {
  test.each(REFERENCE_FIELDS)("under the name %s, once or repeated, byte for byte", async (field) => {
    expect(await sentByForm([[field, ONE]])).toEqual([ONE]);
    expect(
      await sentByForm([
        [field, THREE],
        [field, ONE],
        [field, TWO],
      ]),
    ).toEqual([THREE, ONE, TWO]);
  });

  test("as text, beside files, in upload order", async () => {
    expect(
      await sentByForm([
        ["image[]", dataUrl(TWO)],
        ["image", ONE],
        ["image_url", THREE.toString("base64")],
      ]),
    ).toEqual([TWO, ONE, THREE]);
  });

  test.each([
    ['"图片 1.png"', undefined],
    ["\"a.png\"; filename*=UTF-8''%E5%9B%BE.png", "image/png"],
    ['"quote %22 inside.png"', "application/octet-stream"],
    ['"../../etc/passwd"', "text/html"],
    ['""', "image/webp"],
    ["plain.png", "image/jpeg"],
  ])("with the file name %s and type %s, recognized by its bytes", async (fileName, type) => {
    expect(await sentRaw([{ name: "image", fileName, ...(type && { type }), content: ONE }])).toEqual([
      ["image", ONE],
    ]);
    const head = fixture.vendors.openai.hits.at(-1)!.body.toString("latin1");
    expect(head).toContain('filename="image-1.png"\r\nContent-Type: image/png\r\n');
  });

  test("under a numbered name, beside fields that were left empty", async () => {
    const content = await sentRaw([
      { name: "image[0]", fileName: '"b.png"', content: TWO },
      { name: "images[12]", fileName: '"a.png"', content: ONE },
      { name: "image", fileName: '""', type: "application/octet-stream", content: "" },
      { name: "image_url", content: "" },
      { name: "mask", fileName: '""', type: "application/octet-stream", content: "" },
    ]);
    expect(content).toEqual([
      ["image[]", TWO],
      ["image[]", ONE],
    ]);
  });

  test("with bytes that look like the end of the form", async () => {
    const tricky = makePng(20, 20, {
      chunks: [pngChunk("teSt", Buffer.from("\r\n--edg\r\n--Edge--\r\n\r\n--\r\n-edge\n--edge--"))],
    });
    expect(await sentRaw([{ name: "image", fileName: '"a.png"', content: tricky }])).toEqual([
      ["image", tricky],
    ]);
  });

  test("with its numbers as text", async () => {
    const entries = [
      ["image", ONE],
      ["n", "2"],
      ["size", "1024x1536"],
      ["output_format", "jpeg"],
      ["output_compression", "40"],
      ["response_format", "b64_json"],
    ] as const;
    const response = await editByForm(entries);
    expect(response.headers.get("x-gateway-generated-images")).toBe("2");
    expect(await response.json()).toMatchObject({ size: "1024x1536", output_format: "jpeg", data: [{}, {}] });
    expect(await textsOf(fixture.vendors.openai.hits.at(-1)!)).toMatchObject({
      n: "2",
      output_compression: "40",
    });
  });

  test("with an empty text as if it were absent", async () => {
    expect(
      (
        await editByForm([
          ["image", ONE],
          ["n", ""],
          ["size", ""],
          ["quality", ""],
        ])
      ).status,
    ).toBe(200);
    expect(await textsOf(fixture.vendors.openai.hits.at(-1)!)).toEqual({
      model: "gpt-image-2",
      prompt: "make it so",
      n: "1",
    });
  });
});

describe("a picture is recognized by its bytes", () => {
  test("not by its declared type", async () => {
    const jpeg = Buffer.from(await new Bun.Image(ONE).jpeg().bytes());
    expect(await sent({ image: dataUrl(jpeg, "image/png") })).toEqual([jpeg]);
    expect(fixture.vendors.openai.hits.at(-1)!.body.toString("latin1")).toContain("Content-Type: image/jpeg");
  });

  test("also when it is a valid web page or archive", async () => {
    const page = Buffer.concat([ONE, Buffer.from("<html><script>alert(1)</script>")]);
    expect(await sent({ image: dataUrl(page) })).toEqual([page]);
  });

  test("also after large profiles and comments", async () => {
    const profile = makePng(30, 30, { chunks: [pngChunk("iCCP", Buffer.alloc(8_000_000, 1))] });
    expect(await sent({ image: dataUrl(profile) })).toEqual([profile]);
  });

  test.each([
    ["BMP", makeBmp(40, 30)],
    ["GIF", GIF],
  ])("a still %s reaches a vendor that does not read it as something it reads", async (_, picture) => {
    const response = await edit({ image: dataUrl(picture) });
    if (response.status !== 200) throw new Error(await response.text());
    expect(fixture.vendors.openai.hits.at(-1)!.body.toString("latin1")).toContain("Content-Type: image/png");
  });
});

describe("the number of references", () => {
  const families = Object.keys(MODELS) as (keyof typeof MODELS)[];

  test.each(families)(
    "of family %s is accepted up to its limit and refused above it, on every endpoint",
    async (family) => {
      const [model, limit] = [MODELS[family], LIMITS[family]];
      const urls = Array.from({ length: limit + 1 }, () => dataUrl(ONE));
      const error = { param: "image", code: "too_many_reference_images" };
      expect((await edit({ model, images: urls.slice(1) })).status).toBe(200);
      fixture.reset();
      const body = await refused(edit({ model, images: urls }), error);
      expect(body.message).toContain(String(limit));
      await refused(editByForm([["model", model], ...urls.map(() => ["image[]", ONE] as const)]), error);
    },
  );

  test("is counted over all names together", async () => {
    const many = (count: number) => Array.from({ length: count }, () => dataUrl(ONE));
    const fields = {
      image: many(9),
      images: many(6),
      image_urls: many(1),
      input_images: [{ image_url: dataUrl(ONE) }],
    };
    await refused(edit(fields), { param: "image", code: "too_many_reference_images" });
  });

  test("beyond all families is refused before the body is complete", async () => {
    const error = { param: "image", code: "too_many_reference_images" };
    const large = dataUrl(randomBytes(50_000));
    const json = await refused(edit({ images: Array.from({ length: 70 }, () => large) }), error);
    const form = await refused(
      editByForm(Array.from({ length: 70 }, () => ["image[]", ONE] as const)),
      error,
    );
    for (const { message } of [json, form])
      expect(message).toContain(String(Math.max(...Object.values(LIMITS))));
  });

  test("is counted before anything is fetched", async () => {
    await using listener = await listen();
    const link = `https://127.0.0.1:${listener.port}/a.png`;
    const error = { param: "image", code: "too_many_reference_images" };
    await refused(edit({ images: Array.from({ length: 100 }, () => link) }), error);
    await refused(edit({ model: MODELS.D, images: [link, dataUrl(ONE)] }), error);
    expect(listener.connections()).toBe(0);
  });
});

proveNothingBilled();

function lines(bytes: Buffer): string {
  return bytes.toString("base64").replace(/.{76}/g, "$&\n");
}
