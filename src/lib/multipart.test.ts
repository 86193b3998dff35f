import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpooledString } from "./json-spool/long-string.ts";
import { MultipartError, readMultipart, type MultipartOptions } from "./multipart.ts";
import { createSpool } from "./spool.ts";

const directory = await mkdtemp(join(tmpdir(), "multipart-test-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

const TYPE = "multipart/form-data; boundary=edge";

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (let turn = 0; from < bytes.byteLength; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield new Uint8Array(bytes.subarray(from, from + size));
    from += size;
  }
}

/** Reads a form. Replaces blobs and long texts by their bytes, because the spool removes its files. */
async function read(
  body: string | Uint8Array,
  options: Partial<MultipartOptions> = {},
  sizes: readonly number[] = [1 << 20],
  type = TYPE,
) {
  await using spool = createSpool(directory);
  const parts = await readMultipart(cut(Buffer.from(body), sizes), type, spool, options);
  return await Promise.all(
    parts.map(async (part) => {
      if (part.kind === "file") {
        const { kind, name, fileName, type, blob, byteLength } = part;
        expect(blob.size).toBe(byteLength);
        return { kind, name, fileName, type, bytes: Buffer.from(await blob.bytes()) };
      }
      if (part.kind === "skipped") return part;
      const value =
        part.value instanceof SpooledString ? Buffer.from(await part.value.blob.bytes()) : part.value;
      return { kind: part.kind, name: part.name, value };
    }),
  );
}

async function faultOf(promise: Promise<unknown>): Promise<MultipartError> {
  const error = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof MultipartError)) throw new Error(`no MultipartError but ${error}`);
  return error;
}

function part(header: string, content: string): string {
  return `--edge\r\n${header}\r\n\r\n${content}\r\n`;
}

const name = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const END = "--edge--\r\n";

describe("a form", () => {
  test("of the platform is read in order and in any pieces", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.uint8Array({ maxLength: 200 })), {
          maxLength: 6,
        }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
        async (values, sizes) => {
          const form = new FormData();
          for (const [index, value] of values.entries()) {
            if (typeof value === "string") form.append(`text${index}`, value);
            else
              form.append(
                "image[]",
                new File([Uint8Array.from(value)], `猫 ${index}.png`, { type: "image/png" }),
              );
          }
          const request = new Request("http://x/", { method: "POST", body: form });
          const type = request.headers.get("content-type") ?? "";
          const parts = await read(await request.bytes(), {}, sizes, type);
          expect(parts).toEqual(
            values.map((value, index) =>
              typeof value === "string"
                ? { kind: "text", name: `text${index}`, value: value.replace(/\r\n|\r|\n/g, "\r\n") }
                : {
                    kind: "file",
                    name: "image[]",
                    fileName: `猫 ${index}.png`,
                    type: "image/png",
                    bytes: Buffer.from(value),
                  },
            ) as never,
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test("is read the same at every split, with preamble, padding, near-boundaries and epilogue", async () => {
    const near = "\r\n--edg\r\n--edgX\r--edge\n--edge\r\n-";
    const body = Buffer.from(
      `preamble\r\n${part(name("a"), near)}--edge \t\r\n${name("f")}; filename="x"\r\ncontent-TYPE:image/png\r\n\r\n${near}\r\n--edge--epilogue`,
    );
    const expected = [
      { kind: "text", name: "a", value: near },
      { kind: "file", name: "f", fileName: "x", type: "image/png", bytes: Buffer.from(near) },
    ];
    for (let at = 1; at < body.byteLength; at += 1) {
      expect(await read(body, {}, [at, body.byteLength])).toEqual(expected as never);
    }
    expect(await read(body, {}, [1])).toEqual(expected as never);
  });

  test("without any part is empty", async () => {
    expect(await read(END)).toEqual([]);
  });
});

describe("names", () => {
  test.each([
    ['filename="猫 \\"1\\".png"', '猫 "1".png'],
    ['filename="猫 %221%22.png"', '猫 "1".png'],
    [`filename*=UTF-8''%E7%8C%AB%20%221%22.png`, '猫 "1".png'],
    [`filename="fallback.png"; filename*=utf-8'en'%E7%8C%AB.png`, "猫.png"],
    [`filename="fallback.png"; filename*=utf-8''%E7%8C`, "fallback.png"],
    [`filename="fallback.png"; filename*=latin1''%E7`, "fallback.png"],
    ['filename="C:\\dir\\cat.png"', "C:\\dir\\cat.png"],
    ['filename="a;b=c.png"', "a;b=c.png"],
    ["filename=bare.png", "bare.png"],
    ['filename=""', ""],
  ])("the file name in %s is understood", async (parameter, fileName) => {
    const body = part(`${name("image[]")}; ${parameter}\r\nContent-Type: image/png`, "x") + END;
    expect(await read(body)).toEqual([
      { kind: "file", name: "image[]", fileName, type: "image/png", bytes: Buffer.from("x") },
    ] as never);
  });

  test("a picture without a file name is a file, JSON and text are not", async () => {
    const body =
      part(`${name("image")}\r\nContent-Type: image/png`, "x") +
      part(`${name("b")}\r\nContent-Type: text/plain; charset=utf-8`, "y") +
      part(`${name("c")}\r\nContent-Type: application/json`, "{}") +
      END;
    expect((await read(body)).map(({ kind }) => kind)).toEqual(["file", "text", "text"]);
  });
});

describe("malformed", () => {
  const good = part(name("a"), "x");
  test.each([
    ["nothing", ""],
    ["no boundary", "hello"],
    ["another boundary", "--other\r\n\r\n\r\n--other--"],
    ["no end", good],
    ["cut in the content", good.slice(0, -4)],
    ["cut in the header", good.slice(0, 20)],
    ["cut in the boundary", `${good}--ed`],
    ["cut after the boundary", `${good}--edge`],
    ["cut after one dash", `${good}--edge-`],
    ["no disposition", part("Content-Type: image/png", "x") + END],
    ["no name", part("Content-Disposition: form-data", "x") + END],
    ["another disposition", part('Content-Disposition: attachment; name="a"', "x") + END],
    ["an unclosed quote", part('Content-Disposition: form-data; name="a', "x") + END],
    ["junk after a parameter", part('Content-Disposition: form-data; name="a"b', "x") + END],
    ["two names", part('Content-Disposition: form-data; name="a"; name="b"', "x") + END],
    ["two dispositions", part(`${name("a")}\r\n${name("b")}`, "x") + END],
    ["a line that begins with a space", part(` ${name("a")}`, "x") + END],
    ["a folded line", part(`${name("a")};\r\n filename="x"`, "x") + END],
    ["a line without a colon", part(`${name("a")}\r\nnonsense`, "x") + END],
    ["an empty header", "--edge\r\n\r\n\r\nx\r\n--edge--"],
    ["a NUL in the header", part(name("a\0"), "x") + END],
    ["base64 transfer encoding", part(`${name("a")}\r\nContent-Transfer-Encoding: base64`, "x") + END],
    ["a name of 300 characters", part(name("n".repeat(300)), "x") + END],
    ["a header of 20 KB", part(`${name("a")}\r\nX: ${"x".repeat(20_000)}`, "x") + END],
    ["a preamble of 10 KB", `${"x".repeat(10_000)}\r\n${good}${END}`],
    ["junk after the boundary", `--edge junk\r\n${good}${END}`],
  ])("%s ends with an error, at once or byte by byte", async (_title, body) => {
    expect((await faultOf(read(body))).reason).toBe("malformed");
    expect((await faultOf(read(body, {}, [1]))).reason).toBe("malformed");
  });

  test.each([
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary=""',
    "multipart/mixed; boundary=edge",
    "multipart/form-data; boundary=a; boundary=b",
    `multipart/form-data; boundary=${"x".repeat(71)}`,
    `multipart/form-data; boundary=${"x".repeat(100_000)}`,
    "multipart/form-data; boundary=é",
    'multipart/form-data; boundary="a ',
  ])("the content type %s is refused", async (type) => {
    expect((await faultOf(read(END, {}, [100], type))).reason).toBe("malformed");
  });

  test.each([
    'multipart/form-data; boundary="edge"',
    "Multipart/Form-Data;charset=utf-8; BOUNDARY=edge; a=b",
  ])("the content type %s is understood", async (type) => {
    expect(await read(part(name("a"), "x") + END, {}, [100], type)).toHaveLength(1);
  });

  test("a text value that is not UTF-8 is refused by name", async () => {
    const body = Buffer.from(part(name("a"), "\xff") + END, "latin1");
    expect(await faultOf(read(body))).toMatchObject({ reason: "invalid_text", part: "a" });
  });

  test("random damage gives a MultipartError or a form, and never hangs", async () => {
    const whole = Buffer.from(good + part(`${name("f")}; filename="x"`, "y".repeat(50)) + END);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.nat(255),
        fc.integer({ min: 1, max: 50 }),
        async (position, byte, size) => {
          const damaged = Buffer.from(whole);
          damaged[position % damaged.byteLength] = byte;
          const error = await read(damaged, {}, [size]).catch((error: unknown) => error);
          expect(Array.isArray(error) || error instanceof MultipartError).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
    expect(await readdir(directory)).toHaveLength(0);
  });
});

describe("limits", () => {
  const file = (size: number) => part(`${name("image")}; filename="x"`, "x".repeat(size));

  test("a file may have exactly its limit", async () => {
    await read(file(1000) + END, { maxFileBytes: 1000 });
    const error = await faultOf(read(file(1001) + END, { maxFileBytes: 1000 }, [100]));
    expect(error).toMatchObject({ reason: "too_large", part: "image" });
  });

  test("body, fields and files are counted while they arrive", async () => {
    expect((await faultOf(read(file(1000) + END, { maxBodyBytes: 999 }, [10]))).reason).toBe(
      "body_too_large",
    );
    const many = part(name("a"), "x").repeat(101) + END;
    expect((await faultOf(read(many))).reason).toBe("too_many_parts");
    expect((await faultOf(read(file(1).repeat(3) + END, { maxFiles: 2 }))).reason).toBe("too_many_parts");
  });

  test("spools a long prompt, refuses a longer one and too many", async () => {
    const prompt = "draw é ".repeat(20_000);
    expect(await read(part(name("prompt"), prompt) + END)).toEqual([
      { kind: "text", name: "prompt", value: Buffer.from(prompt) },
    ] as never);
    const error = await faultOf(read(part(name("prompt"), "x".repeat(1_048_577)) + END));
    expect(error).toMatchObject({ reason: "too_large", part: "prompt" });
    const many = part(name("a"), "x".repeat(60_000)).repeat(90) + END;
    expect((await faultOf(read(many))).reason).toBe("too_large");
  });
});

test("decodes a data URL or base64 in a text field where an image is expected", async () => {
  const picture = Buffer.from(crypto.getRandomValues(new Uint8Array(100_000)));
  const base64 = picture.toString("base64");
  const decode = (name: string) => name === "image";
  const body =
    part(name("image"), `data:image/png;base64,${base64.replace(/.{76}/g, "$&\r\n")}`) +
    part(name("image"), base64) +
    END;
  for (const image of await read(body, { decode }, [777])) {
    expect(image).toEqual({ kind: "text", name: "image", value: picture } as never);
  }
  const junk = part(name("image"), `${base64}!`) + END;
  expect(await faultOf(read(junk, { decode }))).toMatchObject({ reason: "invalid_base64", part: "image" });
});

test("a part that nobody reads is skipped, whatever its size and kind", async () => {
  const large = "x".repeat(300_000);
  const body = [
    `--b\r\ncontent-disposition: form-data; name="unknown"\r\n\r\n${large}\r\n`,
    `--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n${large}\r\n`,
    `--b\r\ncontent-disposition: form-data; name="known"\r\n\r\nvalue\r\n--b--\r\n`,
  ].join("");
  await using spool = createSpool(directory);
  const options = { reads: (name: string) => name === "known", maxTextBytes: 1_000, maxFileBytes: 1_000 };
  const chunks = cut(Buffer.from(body), [100_000]);
  expect(await readMultipart(chunks, "multipart/form-data; boundary=b", spool, options)).toEqual([
    { kind: "skipped", name: "unknown" },
    { kind: "skipped", name: "file" },
    { kind: "text", name: "known", value: "value" },
  ]);
});
