import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JsonSpoolError, readSpooledJson, SpooledString, type JsonSpoolOptions } from "./json-spool.ts";
import { createSpool } from "./spool.ts";

const directory = await mkdtemp(join(tmpdir(), "json-spool-test-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (let turn = 0; from < bytes.byteLength; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield new Uint8Array(bytes.subarray(from, from + size));
    from += size;
  }
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/**
 * Reads a body and puts the spooled strings back, so that the result can be compared with the result of `JSON.parse`.
 */
async function read(
  body: string | Uint8Array,
  options: Partial<JsonSpoolOptions> = {},
  sizes: readonly number[] = [1 << 20],
): Promise<unknown> {
  await using spool = createSpool(directory);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return await restore(await readSpooledJson(cut(bytes, sizes), spool, options));
}

async function restore(value: unknown): Promise<unknown> {
  if (value instanceof SpooledString) {
    expect(value.blob.size).toBe(value.byteLength);
    return value.decoded ? Buffer.from(await value.blob.bytes()) : await value.blob.text();
  }
  if (typeof value !== "object" || value === null) return value;
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(value, key, { value: await restore(item) });
  }
  return value;
}

async function faultOf(promise: Promise<unknown>): Promise<JsonSpoolError> {
  const error = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof JsonSpoolError)) throw new Error(`no JsonSpoolError but ${error}`);
  return error;
}

const wellFormed = fc.string({ unit: "grapheme", maxLength: 40 });
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    wellFormed,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(wellFormed, tie("value"), { maxKeys: 5 }),
  ),
})).value;

describe("like JSON.parse", () => {
  test("gives the same value for any JSON, in any pieces, with strings in memory or on disk", async () => {
    await fc.assert(
      fc.asyncProperty(
        json,
        fc.constantFrom(undefined, "\t"),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 20 }),
        fc.boolean(),
        async (value, indent, sizes, thresholdBytes, isAscii) => {
          const plain = JSON.stringify(value, null, indent);
          const text = isAscii ? escapeAll(plain) : plain;
          const options = { thresholdBytes, maxStrings: 10_000 };
          expect(await read(text, options, sizes)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 400 },
    );
  });

  test("refuses exactly what JSON.parse refuses after any one-byte change", async () => {
    await fc.assert(
      fc.asyncProperty(
        json,
        fc.nat(),
        fc.constantFrom(...'"\\{}[],:0-eu\n\0 x', ""),
        fc.integer({ min: 0, max: 12 }),
        async (value, position, change, thresholdBytes) => {
          const text = JSON.stringify(value);
          const at = position % text.length;
          const changed = text.slice(0, at) + change + text.slice(at + 1);
          const expected = attempt(() => JSON.parse(changed));
          const actual = await read(changed, { thresholdBytes, maxStrings: 10_000 }, [3]).then(
            (value) => ({ value }),
            (error: unknown) => {
              if (!(error instanceof JsonSpoolError)) throw error;
              return error.reason === "duplicate_key" ? expected : null;
            },
          );
          if (expected && hasLoneSurrogate(changed)) return;
          expect(actual).toEqual(expected);
        },
      ),
      { numRuns: 1500 },
    );
  });

  test("reads a document the same at every split", async () => {
    const text =
      '{"a":"x\\u00e9\\ud83d\\ude00\\n\\"\\\\é😀","b":[1.5e3,{"c":"long enough to spool"}],"__proto__":"own key, spooled"}';
    const bytes = Buffer.from(text);
    for (let at = 1; at < bytes.byteLength; at += 1) {
      const value = await read(bytes, { thresholdBytes: 8 }, [at, bytes.byteLength]);
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    }
    expect(({} as { spooled?: unknown }).spooled).toBeUndefined();
  });

  test.each([
    "",
    " ",
    "{",
    "{}x",
    "{'a':1}",
    '{"a":NaN}',
    '{"a":1,}',
    "[1,]",
    "// x\n{}",
    "]",
    ",",
    '"abc',
    '{"a" "b"}',
    "\u00a0{}",
    '{"a":"\t"}',
  ])("refuses %j", async (text) => {
    expect((await faultOf(read(text))).reason).toBe("invalid_json");
    expect((await faultOf(read(text, { thresholdBytes: 0 }))).reason).toBe("invalid_json");
  });

  test("a byte order mark is skipped; other encodings and broken UTF-8 are refused", async () => {
    expect(await read(Buffer.from('\ufeff{"a":1}'))).toEqual({ a: 1 });
    expect((await faultOf(read(Buffer.from('{"a":1}', "utf16le")))).reason).toBe("invalid_json");
    for (const thresholdBytes of [2, 100]) {
      const broken = Buffer.from('{"a":"xxxxxx\xff"}', "latin1");
      expect((await faultOf(read(broken, { thresholdBytes }))).reason).toBe("invalid_json");
      const halved = Buffer.from('{"a":"xxxxxx\xc3\\n"}', "latin1");
      expect((await faultOf(read(halved, { thresholdBytes }))).reason).toBe("invalid_json");
    }
  });
});

describe("limits", () => {
  test("refuses a repeated top-level key, escaped or not, but no nested one", async () => {
    const error = await faultOf(read('{"model":"a","m\\u006fdel":"b"}'));
    expect(error.reason).toBe("duplicate_key");
    expect(error.path).toEqual(["model"]);
    expect(await read('{"a":{"b":1,"b":2}}')).toEqual({ a: { b: 2 } });
  });

  test("accepts depth 128, refuses 129 and a million", async () => {
    await read("[".repeat(128) + "]".repeat(128));
    expect((await faultOf(read("[".repeat(129) + "]".repeat(129)))).reason).toBe("too_deep");
    expect((await faultOf(read("[".repeat(1_000_000)))).reason).toBe("too_deep");
  });

  test("refuses too many values or too large a skeleton before using memory", async () => {
    const tiny = Buffer.from(`[${"{},".repeat(8_000_000)}{}]`);
    expect((await faultOf(read(tiny))).reason).toBe("too_complex");
    const spaces = Buffer.alloc(20 * 1024 * 1024, 0x20);
    expect((await faultOf(read(spaces))).reason).toBe("too_complex");
    const keys = Buffer.from(`{"${"k".repeat(9_000_000)}":1}`);
    expect((await faultOf(read(keys))).reason).toBe("too_complex");
    const strings = Buffer.from(`["${Array(70).fill("a".repeat(70_000)).join('","')}"]`);
    expect((await faultOf(read(strings))).reason).toBe("too_complex");
  });

  test("counts the body while it arrives", async () => {
    const error = await faultOf(read(`"${"a".repeat(1000)}"`, { maxBodyBytes: 1001 }, [10]));
    expect(error.reason).toBe("body_too_large");
  });

  test("never blocks the event loop for 100 ms", async () => {
    const worst = [
      `[${Array(9_900).fill("{}").join(",")}]`,
      `{${Array.from({ length: 19_900 }, (_, index) => `"k${index}":1`).join(",")}}`,
      `["${"\\n".repeat(30_000)}${'","\\u0041'.repeat(19_900)}"]`,
      `["${"\\/\\n".repeat(8_000_000)}"]`,
      `["${"a".repeat(7_000_000)}","b"]`,
    ];
    for (const body of worst) {
      await using spool = createSpool(directory);
      const bytes = Buffer.from(body);
      // The measurement begins after the body is copied, because the copy is made by the test itself.
      const watch = watchLoop();
      await readSpooledJson(inOne(bytes), spool);
      await Bun.sleep(2);
      expect(watch.longestStallMs()).toBeLessThan(100);
    }
  });
});

describe("images", () => {
  const picture = crypto.getRandomValues(new Uint8Array(100_000));
  const base64 = Buffer.from(picture).toString("base64");
  const decode = (path: readonly (string | number)[]) => path[0] === "images";

  test("decodes data URLs and bare base64 with any escapes", async () => {
    const forms = [
      base64,
      Buffer.from(picture).toString("base64url"),
      `data:image/png;base64,${base64}`,
      base64.replaceAll("/", "\\/"),
      base64.replaceAll("+", "\\u002b").replaceAll("=", "\\u003D"),
      base64.replace(/.{76}/g, "$&\\r\\n"),
      base64.replace(/.{64}/g, "$& "),
      `DATA:image\\/PNG;BASE64,${base64.replaceAll("/", "\\/")}`,
    ];
    const body = `{"images":[${forms.map((form) => `"${form}"`).join(",")}]}`;
    const value = (await read(body, { decode }, [1000, 7, 40_000])) as { images: Buffer[] };
    expect(value.images).toHaveLength(forms.length);
    for (const image of value.images) expect(image.equals(picture)).toBe(true);
  });

  test("the MIME type of a data URL is kept", async () => {
    await using spool = createSpool(directory);
    const body = JSON.stringify({ images: [`data:image/WebP;base64,${base64}`, base64] });
    const value = await readSpooledJson(cut(Buffer.from(body), [5000]), spool, { decode });
    expect(value).toMatchObject({
      images: [{ mime: "image/webp", decoded: true, byteLength: 100_000 }, { mime: undefined }],
    });
  });

  test("refuses what is no base64 with its path", async () => {
    for (const junk of [
      `${base64.slice(0, 90_000)}!${base64}`,
      `data:image/png,${base64}`,
      `${base64}A`,
      `data:image/png;base64,%%${base64}`,
    ]) {
      const error = await faultOf(read(JSON.stringify({ images: ["x", { image_url: junk }] }), { decode }));
      expect(error.reason).toBe("invalid_base64");
      expect(error.path).toEqual(["images", 1, "image_url"]);
    }
    const raw = `{"images":["${base64.slice(0, 80_000)}\n${base64}"]}`;
    expect((await faultOf(read(raw, { decode }))).reason).not.toBe("too_large");
  });

  test("keeps a long prompt as text, even of base64 characters", async () => {
    const prompt = "draw a cat ".repeat(10_000);
    expect(await read(JSON.stringify({ prompt, images: [] }), { decode })).toEqual({ prompt, images: [] });
    const link = `https://${"a".repeat(70_000)}?q=1`;
    expect(await read(JSON.stringify({ images: [link] }), { decode })).toEqual({ images: [link] });
  });

  test("refuses an image one byte over the limit with its path", async () => {
    const limit = { decode, maxStringBytes: 99_999 };
    const error = await faultOf(read(JSON.stringify({ images: [base64] }), limit));
    expect(error).toMatchObject({ reason: "too_large", path: ["images", 0] });
    await read(JSON.stringify({ images: [base64] }), { decode, maxStringBytes: 100_000 });
  });

  test("leaves nothing on disk after success or failure", async () => {
    await read(JSON.stringify({ images: [base64] }), { decode });
    await faultOf(read(`{"images":["${base64}`, { decode }));
    expect(await readdir(directory)).toHaveLength(0);
  });
});

function escapeAll(text: string): string {
  return text.replace(/[\u0080-\uffff/]/g, (unit) =>
    unit === "/" ? "\\/" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function hasLoneSurrogate(text: string): boolean {
  return /\\u[dD][89a-fA-F]/.test(text) || !text.isWellFormed();
}

function attempt(work: () => unknown): { value: unknown } | null {
  try {
    return { value: work() };
  } catch {
    return null;
  }
}

/**
 * Measures how long the event loop is blocked. Counts wall-clock time or processor time of this process, whichever is
 * shorter: on a busy machine, wall-clock time includes waits for the processor.
 */
function watchLoop(): { longestStallMs(): number } {
  let longestMs = 0;
  let seenAt = performance.now();
  let seenCpu = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(seenCpu);
    longestMs = Math.max(longestMs, Math.min(performance.now() - seenAt, (user + system) / 1000));
    seenAt = performance.now();
    seenCpu = process.cpuUsage();
  }, 1);
  return {
    longestStallMs() {
      clearInterval(timer);
      return longestMs;
    },
  };
}
