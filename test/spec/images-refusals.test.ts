import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { rawForm, REFERENCE_FIELDS } from "../support/images-forms.ts";
import { dataUrl, MODELS, openEditFixture, ONE } from "../support/edit-gateway.ts";
import {
  makeExtendedWebp,
  makeGif,
  makeHeif,
  makeTiff,
  pngChunk,
  pngHeader,
  pngOf,
} from "../support/pictures.ts";

/* Refused edits reach no vendor, cost nothing and leave no file. Each refusal is checked for this. */
const MAX_BYTES = 36_700_160;

const { fixture, edit, editByForm, post, refused, nothingHappened, proveNothingBilled } =
  await openEditFixture();

describe("refused, without vendor call, charge or file, is", () => {
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
    const large = Buffer.concat([ONE, Buffer.alloc(MAX_BYTES + 1 - ONE.byteLength)]);
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

  test("a text over its limit, which is not an image error", async () => {
    const code = "invalid_parameter";
    const long = "a b ".repeat(MAX_BYTES / 4 + 1);
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

  test("a form that has a field of one value twice, or text that is none", async () => {
    const twice = rawForm([
      { name: "model", content: MODELS.A },
      { name: "prompt", content: "x" },
      { name: "n", content: "" },
      { name: "n", content: "1" },
      { name: "n", content: "3" },
      { name: "image", fileName: '"a"', content: ONE },
    ]);
    await refused(post(twice.body, twice.headers), { param: "n", code: "invalid_parameter" });
    const foreign = rawForm([
      { name: "model", content: MODELS.A },
      { name: "prompt", content: new Uint8Array([0xe4, 0xf6]) },
    ]);
    await refused(post(foreign.body, foreign.headers), { param: null, code: "invalid_request_body" });
    const file = rawForm([
      { name: "model", content: MODELS.A },
      { name: "prompt", fileName: '"prompt.txt"', content: Buffer.from("a fox") },
      { name: "image", fileName: '"a"', content: ONE },
    ]);
    await refused(post(file.body, file.headers), { param: "prompt", code: "invalid_parameter" });
  });

  test("a form that is truncated, has no boundary or repeats a name in a header", async () => {
    const { body, headers } = rawForm([
      { name: "model", content: MODELS.A },
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

  test("a declared length over 800 MiB, before the body arrives", async () => {
    expect(await statusOfHead(`content-length: ${800 * 1024 * 1024 + 1}`)).toBe(413);
    expect(fixture.hits()).toBe(0);
  });

  test("a compressed body with an image above 35 MiB", async () => {
    const json = `{"model":"${MODELS.A}","prompt":"x","image":"${Buffer.alloc(MAX_BYTES + 3, 0).toString("base64")}"}`;
    const packed = Bun.gzipSync(Buffer.from(json), { level: 1 });
    expect(packed.byteLength).toBeLessThan(1_000_000);
    await refused(post(packed, { "content-type": "application/json", "content-encoding": "gzip" }), invalid);
  });

  test("any picture on a generation", async () => {
    for (const field of [...REFERENCE_FIELDS, "mask"]) {
      const body = { model: MODELS.A, prompt: "x", [field]: dataUrl(ONE) };
      await refused(fixture.gateway.call("/v1/images/generations", { body }), {
        param: field,
        code: "invalid_parameter",
      });
    }
  });
});

proveNothingBilled();

/** Sends only the head of an edit and returns the status. */
function statusOfHead(line: string): Promise<number> {
  const { hostname, port } = new URL(fixture.gateway.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("data", (bytes: Buffer) => {
      resolve(Number(bytes.toString("latin1", 9, 12)));
      socket.destroy();
    });
    socket.on("error", reject);
    socket.write(
      `POST /v1/images/edits HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${fixture.gateway.key}\r\ncontent-type: application/json\r\n${line}\r\n\r\n`,
    );
  });
}
