import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { filesOf, formOf, rawForm, REFERENCE_FIELDS, textsOf, type RawPart } from "../e2e/images-forms.ts";
import { openImageHouse, type ImageHouse } from "../e2e/images-vendors.ts";
import {
  makeBmp,
  makeExtendedWebp,
  makeGif,
  makeHeif,
  makePng,
  makeTiff,
  pngChunk,
  pngHeader,
  pngOf,
} from "../support/pictures.ts";

/*
 * Reference images and masks of an edit: every name and form they may come in, and everything that is refused. What
 * is refused reaches no vendor, costs nothing and leaves no file, which is checked after every single refusal.
 */
const A = "gpt-image-2";
const MODELS = { A, B: "gemini-3.1-flash-image", C: "seedream-5-0-pro", D: "grok-imagine-image" };
const LIMITS = { A: 16, B: 14, C: 10, D: 1 };
const MOST_BYTES = 36_700_160;

const [ONE, TWO, THREE] = [makePng(40, 30), makePng(41, 30), makePng(42, 30)] as const;
const MASK = makePng(40, 30, { pixel: (x) => [0, 0, 0, x < 20 ? 0 : 255] });

/** A still one of a single pixel. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAAAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const SPECKS = randomBytes(640 * 480);

let house: ImageHouse;

beforeAll(async () => {
  house = await openImageHouse();
});
afterEach(() => house.reset());
afterAll(() => house[Symbol.asyncDispose]());

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

  test("as a link to one of our own results, which is read from storage", async () => {
    const made = await house.gateway.call("/v1/images/generations", {
      body: { model: "sandbox-a", prompt: "x", quality: "low" },
    });
    const { data } = (await made.json()) as { data: { url: string }[] };
    const { url } = data[0]!;
    const bytes = Buffer.from(await (await fetch(url)).bytes());
    const elsewhere = url.replace(/^http:\/\/[^/]+/, "https://gateway.example");
    expect(await sent({ images: [url, { image_url: { url } }, elsewhere] })).toEqual([bytes, bytes, bytes]);
  });

  test("absent where it is null", async () => {
    expect(await sent({ image: dataUrl(ONE), images: null, image_url: null, mask: null })).toEqual([ONE]);
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
  ])("with the file name %s and type %s, told by its bytes", async (fileName, type) => {
    expect(await sentRaw([{ name: "image", fileName, ...(type && { type }), content: ONE }])).toEqual([
      ["image", ONE],
    ]);
    const head = house.vendors.openai.hits.at(-1)!.body.toString("latin1");
    expect(head).toContain('filename="image-1.png"\r\nContent-Type: image/png\r\n');
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
    expect(await textsOf(house.vendors.openai.hits.at(-1)!)).toMatchObject({
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
    expect(await textsOf(house.vendors.openai.hits.at(-1)!)).toMatchObject({ n: "1", size: "auto" });
  });
});

describe("what a picture is, is told by its bytes", () => {
  test("and not by what was said of it", async () => {
    const jpeg = Buffer.from(await new Bun.Image(ONE).jpeg().bytes());
    expect(await sent({ image: dataUrl(jpeg, "image/png") })).toEqual([jpeg]);
    expect(house.vendors.openai.hits.at(-1)!.body.toString("latin1")).toContain("Content-Type: image/jpeg");
  });

  test("also where it is a web page or an archive, too", async () => {
    const page = Buffer.concat([ONE, Buffer.from("<html><script>alert(1)</script>")]);
    expect(await sent({ image: dataUrl(page) })).toEqual([page]);
  });

  test("also behind large profiles and notes", async () => {
    const profile = makePng(30, 30, { chunks: [pngChunk("iCCP", Buffer.alloc(8_000_000, 1))] });
    expect(await sent({ image: dataUrl(profile) })).toEqual([profile]);
  });

  test.each([
    ["BMP", makeBmp(40, 30)],
    ["GIF", GIF],
  ])("a still %s reaches a vendor that does not read it as something it reads", async (_, picture) => {
    const response = await edit({ image: dataUrl(picture) });
    if (response.status !== 200) throw new Error(await response.text());
    expect(house.vendors.openai.hits.at(-1)!.body.toString("latin1")).toContain("Content-Type: image/png");
  });
});

describe("a mask", () => {
  test.each(["mask", "mask[]"])("comes as %s, in JSON and in forms, in every form", async (field) => {
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
  });

  test.each(["B", "C", "D"] as const)("is ignored on family %s, whatever it is", async (family) => {
    for (const mask of [dataUrl(MASK), dataUrl(Buffer.from("no picture at all"))])
      expect((await edit({ model: MODELS[family], image: dataUrl(ONE), mask })).status).toBe(200);
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

describe("the number of references", () => {
  const families = Object.keys(MODELS) as (keyof typeof MODELS)[];

  test.each(families)(
    "of family %s is taken up to its limit and refused above it, by every entrance",
    async (family) => {
      const [model, limit] = [MODELS[family], LIMITS[family]];
      const urls = Array.from({ length: limit + 1 }, () => dataUrl(ONE));
      const error = { param: "image", code: "too_many_reference_images" };
      expect((await edit({ model, images: urls.slice(1) })).status).toBe(200);
      house.reset();
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

  test("is counted before anything is fetched", async () => {
    await using listener = await listen();
    const link = `https://127.0.0.1:${listener.port}/a.png`;
    const error = { param: "image", code: "too_many_reference_images" };
    await refused(edit({ images: Array.from({ length: 100 }, () => link) }), error);
    await refused(edit({ model: MODELS.D, images: [link, dataUrl(ONE)] }), error);
    expect(listener.connections()).toBe(0);
  });
});

describe("refused, with nothing sent, billed or left behind, is", () => {
  const invalid = { param: "image", code: "invalid_image" };
  const fileReference = { param: "image", code: "unsupported_file_reference" };

  test.each<[string, object, { param: string; code: string }]>([
    ["no image", {}, invalid],
    ["an empty list", { images: [] }, invalid],
    ["a list of null", { images: [null] }, invalid],
    ["a list of an empty object", { images: [{}] }, invalid],
    ["a number", { images: [1] }, invalid],
    ["a truth value", { image: true }, invalid],
    ["a list in a list", { images: [[dataUrl(ONE)]] }, invalid],
    ["an empty string", { image: "" }, invalid],
    ["a nested object without an address", { image: { image_url: {} } }, invalid],
    ["a file id as text", { image: "file-abc123" }, fileReference],
    ["a file id in an object", { images: [{ file_id: "file-abc123" }] }, fileReference],
    ["a file id beside an image", { images: [dataUrl(ONE), { file_id: "file-1" }] }, fileReference],
    [
      "base64 with a strange character",
      { image: `${ONE.toString("base64").slice(0, 40)}*${ONE.toString("base64").slice(41)}` },
      invalid,
    ],
    ["base64 with too much padding", { image: `${Buffer.from("abcd").toString("base64")}=` }, invalid],
    ["base64 cut in a group", { image: ONE.toString("base64").slice(0, 41) }, invalid],
    ["a data URL without a comma", { image: "data:image/png;base64" }, invalid],
    ["a data URL that is not base64", { image: `data:image/png,${encodeURIComponent("\x89PNG")}` }, invalid],
    ["a data URL with percent signs", { image: `data:image/png;base64,%89PNG` }, invalid],
    ["a data URL without data", { image: "data:image/png;base64," }, invalid],
    [
      "a data URL of a picture in words",
      { image: dataUrl(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/svg+xml") },
      invalid,
    ],
    ["a data URL of a page", { image: dataUrl(Buffer.from("<html><img>"), "text/html") }, invalid],
    ["a data URL with a type of 4 KB", { image: `data:image/${"p".repeat(4096)};base64,!` }, invalid],
    ["base64 of a text", { image: Buffer.from("this is a text and no picture").toString("base64") }, invalid],
    ["base64 of seven bytes", { image: ONE.subarray(0, 7).toString("base64") }, invalid],
    ["a PNG that ends in its header", { image: dataUrl(ONE.subarray(0, 20)) }, invalid],
    ["a PNG without pixels", { image: dataUrl(pngOf([pngHeader(0, 10, 6)])) }, invalid],
    ["a PDF", { image: dataUrl(Buffer.from("%PDF-1.7\n%äöü\n1 0 obj")) }, invalid],
    ["a ZIP", { image: dataUrl(Buffer.from("PK\x03\x04 and so on and on")) }, invalid],
    ["an MP4", { image: dataUrl(Buffer.from("\0\0\0\x20ftypisom\0\0\x02\0isomiso2")) }, invalid],
    ["an animated GIF", { image: dataUrl(makeGif(20, 20, 3, true)) }, invalid],
    ["an animated WebP", { image: dataUrl(makeExtendedWebp([20, 20], [20, 20], 2)) }, invalid],
    ["a TIFF of several pages", { image: dataUrl(makeTiff(20, 20, { next: 8 })) }, invalid],
  ])("%s", async (_, fields, error) => {
    await refused(edit(fields), error);
  });

  test.each<[string, Buffer]>([
    ["a PNG of 30,000 by 30,000", pngOf([pngHeader(30_000, 30_000, 6), pngChunk("IDAT", Buffer.alloc(10))])],
    [
      "a PNG of the largest numbers",
      pngOf([pngHeader(2 ** 31 - 1, 2 ** 31 - 1, 6), pngChunk("IDAT", Buffer.alloc(10))]),
    ],
    [
      "a PNG one pixel high and very wide",
      pngOf([pngHeader(50_000_000, 1, 6), pngChunk("IDAT", Buffer.alloc(10))]),
    ],
    [
      "a PNG of little more than the limit",
      pngOf([pngHeader(10_000, 5_001, 6), pngChunk("IDAT", Buffer.alloc(10))]),
    ],
    ["a WebP of 16,000 by 16,000", makeExtendedWebp([16_000, 16_000], [16_000, 16_000])],
    ["a TIFF of 60,000 by 60,000", makeTiff(60_000, 60_000)],
    ["an AVIF of 20,000 by 20,000", makeHeif("avif", 20_000, 20_000)],
    ["a GIF of 60,000 by 60,000", makeGif(60_000, 60_000, 1)],
  ])("a decompression bomb: %s", async (_, bomb) => {
    await refused(edit({ image: dataUrl(bomb) }), invalid);
    await refused(
      editByForm([
        ["image", ONE],
        ["image", bomb],
      ]),
      invalid,
    );
    await refused(edit({ image: dataUrl(ONE), mask: dataUrl(bomb) }), {
      param: "mask",
      code: "invalid_image",
    });
  });

  test("one byte more than 35 MiB, as file and as text", async () => {
    const large = Buffer.concat([ONE, Buffer.alloc(MOST_BYTES + 1 - ONE.byteLength)]);
    await refused(
      editByForm([
        ["image", ONE],
        ["image", large],
      ]),
      invalid,
    );
    await refused(edit({ image: dataUrl(large) }), invalid);
    await refused(edit({ image: dataUrl(ONE), mask: large.toString("base64") }), {
      param: "mask",
      code: "invalid_image",
    });
  }, 20_000);

  test("a text of over its limit, which is no fault of an image", async () => {
    const code = "invalid_parameter";
    const long = "a b ".repeat(MOST_BYTES / 4 + 1);
    await refused(edit({ image: dataUrl(ONE), prompt: long }), { param: "prompt", code });
    await refused(editByForm([["prompt", long.slice(0, 2 ** 20 + 1)]]), { param: "prompt", code });
  });

  test("an empty file", async () => {
    await refused(editByForm([["image", new Uint8Array()]]), invalid);
  });

  test.each<[string, string, string]>([
    ["n", "abc", "n"],
    ["n", "0", "n"],
    ["n", "5", "n"],
    ["n", "1.5", "n"],
    ["n", "1e0", "n"],
    ["output_compression", "101", "output_compression"],
    ["output_format", "gif", "output_format"],
    ["response_format", "file", "response_format"],
    ["quality", "ultra", "quality"],
    ["background", "none", "background"],
  ])("the form field %s with %p", async (name, value, param) => {
    await refused(
      editByForm([
        ["image", ONE],
        [name, value],
      ]),
      { param, code: "invalid_parameter" },
    );
  });

  test("a form that is cut, has no boundary or repeats a name in a header", async () => {
    const { body, headers } = rawForm([
      { name: "model", content: A },
      { name: "image", fileName: '"a"', content: ONE },
    ]);
    const malformed = { param: null, code: "invalid_request_body" };
    await refused(post(body.subarray(0, -20), headers), malformed);
    await refused(post(body, { "content-type": "multipart/form-data" }), malformed);
    await refused(
      post(rawForm([{ name: 'image"; name="mask', fileName: '"a"', content: ONE }]).body, headers),
      malformed,
    );
  });

  test.each([
    "{",
    "null",
    "[]",
    '"x"',
    "1",
    "{}x",
    '{"a":NaN}',
    '{"model":"a","model":"b"}',
    '{"n":1,"n":2}',
  ])("the JSON body %s", async (body) => {
    await refused(post(body, { "content-type": "application/json" }), {
      param: null,
      code: "invalid_request_body",
    });
  });

  test("an unknown type of body", async () => {
    const response = await post("model=a", { "content-type": "application/x-www-form-urlencoded" });
    expect(response.status).toBe(415);
    nothingHappened(response);
  });

  test("a body that says it is larger than 800 MiB, before it comes", async () => {
    expect(await statusOfHead(`content-length: ${800 * 1024 * 1024 + 1}`)).toBe(413);
    expect(house.hits()).toBe(0);
  });

  test("a packed body that unpacks to an image above 35 MiB", async () => {
    const json = `{"model":"${A}","prompt":"x","image":"${Buffer.alloc(MOST_BYTES + 3, 0).toString("base64")}"}`;
    const packed = Bun.gzipSync(Buffer.from(json), { level: 1 });
    expect(packed.byteLength).toBeLessThan(1_000_000);
    await refused(post(packed, { "content-type": "application/json", "content-encoding": "gzip" }), invalid);
  });

  test("any picture on a generation", async () => {
    for (const field of [...REFERENCE_FIELDS, "mask"]) {
      const body = { model: A, prompt: "x", [field]: dataUrl(ONE) };
      await refused(house.gateway.call("/v1/images/generations", { body }), {
        param: field,
        code: "invalid_parameter",
      });
    }
  });
});

describe("a link", () => {
  const notAllowed = { param: "image", code: "image_url_not_allowed" };

  test("to an address of this machine or a network of its own is never dialled", async () => {
    await using listener = await listen();
    const { port } = listener;
    const links = [
      ...[
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
      ].flatMap((host) => [
        `https://${host}:${port}/a.png`,
        `https://${host}/a.png`,
        `http://${host}:${port}/a.png`,
      ]),
      "https://169.254.169.254/latest/meta-data/",
      "https://metadata.google.internal/",
      "https://10.0.0.1/a.png",
      "https://192.168.1.1/a.png",
      "https://100.100.100.200/a.png",
      `https://user:pass@127.0.0.1:${port}/a.png`,
      `https://good.example@127.0.0.1:${port}/a.png`,
      "https://example.com:22/a.png",
      "http://example.com/a.png",
      "file:///etc/passwd",
      "ftp://example.com/a.png",
      "gopher://example.com/",
      "https://",
    ];
    for (const link of links) await refused(edit({ image: link }), notAllowed);
    await refused(edit({ images: [dataUrl(ONE), { image_url: links[0] }] }), notAllowed);
    await refused(
      editByForm([
        ["image", ONE],
        ["image_url", links[0]!],
      ]),
      notAllowed,
    );
    await refused(edit({ image: dataUrl(ONE), mask: links[0] }), { ...notAllowed, param: "mask" });
    expect(listener.connections()).toBe(0);
  });

  test("says nothing of what stands behind it", async () => {
    const said = await Promise.all(
      ["https://127.0.0.1/", "https://10.1.2.3/", "https://localhost/"].map(
        async (image) => (await refused(edit({ image }), notAllowed)).message,
      ),
    );
    expect(new Set(said).size).toBe(1);
    expect(said[0]).not.toMatch(/127|10\.|localhost/);
  });

  test("of more than 2,048 characters is refused", async () => {
    await refused(edit({ image: `https://example.com/${"a".repeat(2048)}` }), {
      param: "image",
      code: "invalid_image",
    });
  });

  test("to one of our own results that is wrongly signed or has expired is not read", async () => {
    const made = await house.gateway.call("/v1/images/generations", {
      body: { model: "sandbox-a", prompt: "x", quality: "low" },
    });
    const { data } = (await made.json()) as { data: { url: string }[] };
    const { url } = data[0]!;
    await refused(edit({ image: `${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}` }), notAllowed);
    await refused(edit({ image: url.replace(/exp=\d+/, "exp=1000000000") }), notAllowed);
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

  test("keeps a small picture, and one that cannot be decoded", async () => {
    const broken = Buffer.concat([
      pngOf([pngHeader(400, 400, 6), pngChunk("IDAT", randomBytes(300_000))]),
      pngChunk("IEND", Buffer.alloc(0)),
    ]);
    for (const bytes of [ONE, broken])
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

test("nothing of all that was refused is in the ledger", async () => {
  const response = await edit({ image: dataUrl(ONE) }, { "x-request-id": "the-last-one" });
  expect(response.status).toBe(200);
  expect(await house.gateway.charged("the-last-one")).toHaveLength(1);
  expect(refusedIds.size).toBeGreaterThan(100);
  expect((await house.gateway.ledger()).filter(({ request_id: id }) => refusedIds.has(id))).toEqual([]);
});

type Entry = readonly [name: string, value: string | Uint8Array];

function edit(fields: object, headers: Record<string, string> = {}): Promise<Response> {
  return house.gateway.call("/v1/images/edits", {
    body: { model: A, prompt: "make it so", ...fields },
    headers,
  });
}

function editByForm(entries: readonly Entry[], headers: Record<string, string> = {}): Promise<Response> {
  const named = new Set(entries.map(([name]) => name));
  const defaults: Entry[] = [["model", A] as const, ["prompt", "make it so"] as const].filter(
    ([name]) => !named.has(name),
  );
  return house.gateway.call("/v1/images/edits", { body: formOf([...defaults, ...entries]), headers });
}

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<Response> {
  return house.gateway.call("/v1/images/edits", { body, headers });
}

/** The references that the vendor was sent. */
async function sent(fields: object): Promise<Buffer[]> {
  return (await sentFiles(edit(fields))).map(([, bytes]) => bytes);
}

async function sentByForm(entries: readonly Entry[]): Promise<Buffer[]> {
  return (await sentFiles(editByForm(entries))).map(([, bytes]) => bytes);
}

function sentRaw(parts: readonly RawPart[]): Promise<[string, Buffer][]> {
  const { body, headers } = rawForm([
    { name: "model", content: A },
    { name: "prompt", content: "make it so" },
    ...parts,
  ]);
  return sentFiles(post(body, headers));
}

async function sentFiles(call: Promise<Response>): Promise<[string, Buffer][]> {
  const response = await call;
  if (response.status !== 200) throw new Error(await response.text());
  return await filesOf(house.vendors.openai.hits.at(-1)!);
}

interface Refusal {
  message: string;
  param: string | null;
  code: string;
}

/** Expects a 400 that reached no vendor, cost nothing and left no file; answers its error. */
async function refused(call: Promise<Response>, expected: Partial<Refusal>): Promise<Refusal> {
  const response = await call;
  const body = (await response.json()) as { error: Refusal };
  expect(body).toMatchObject({ error: expected });
  expect(response.status).toBe(400);
  nothingHappened(response);
  return body.error;
}

/** Ids of what was refused, to be looked for in the ledger at the end. */
const refusedIds = new Set<string>();

function nothingHappened(response: Response): void {
  refusedIds.add(response.headers.get("x-gateway-request-id")!);
  expect(house.hits()).toBe(0);
  expect(spoolFiles()).toEqual([]);
}

function spoolFiles(): string[] {
  try {
    return readdirSync(join(house.gateway.dataDirectory, "spool"));
  } catch {
    return [];
  }
}

function dataUrl(bytes: Uint8Array, type = "image/png"): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

function lines(bytes: Buffer): string {
  return bytes.toString("base64").replace(/.{76}/g, "$&\n");
}

/** Soft colours with the grain of a photograph, which no codec can pack well. */
function grain(x: number, y: number): readonly [number, number, number, number] {
  const speck = SPECKS[(y * 640 + x) % SPECKS.byteLength]!;
  return [((x >> 2) + (speck & 7)) & 255, ((y >> 2) + (speck >> 5)) & 255, 128 + ((speck >> 3) & 7), 255];
}

function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

/** A listener that counts who comes. */
async function listen(): Promise<AsyncDisposable & { port: number; connections(): number }> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no port");
  return {
    port: address.port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends the head of an edit and nothing else; answers the status. */
function statusOfHead(line: string): Promise<number> {
  const { hostname, port } = new URL(house.gateway.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("data", (bytes: Buffer) => {
      resolve(Number(bytes.toString("latin1", 9, 12)));
      socket.destroy();
    });
    socket.on("error", reject);
    socket.write(
      `POST /v1/images/edits HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${house.gateway.key}\r\ncontent-type: application/json\r\n${line}\r\n\r\n`,
    );
  });
}
