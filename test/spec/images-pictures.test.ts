import { describe, expect, test } from "bun:test";
import { parseNanos } from "../../src/lib/money.ts";
import { dataUrl, MODELS, openEditFixture, ONE, TWO } from "../support/edit-gateway.ts";
import { HEIC } from "../support/encoded-pictures.table.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { PICTURE_FORMATS } from "../support/picture-formats.table.ts";
import { makeGif, makePng } from "../support/pictures.ts";

/* Picture formats that every endpoint reads, and refusals of other formats. */
const { fixture, edit, editByForm, sentFiles, refused, proveNothingBilled } = await openEditFixture();

const cutPng = makePng(40, 30).subarray(0, -30);
const cutJpeg = (await new Bun.Image(makePng(200, 100)).jpeg().bytes()).subarray(0, -300);

describe.each(PICTURE_FORMATS)("a picture of the format $name", ({ name, bytes, sentAs, width, height }) => {
  const wanted = { format: sentAs, width, height };
  const metadataOf = (picture: Uint8Array) => new Bun.Image(picture).metadata();

  test("from an edit in JSON and in a form", async () => {
    for (const call of [
      () => edit({ images: [dataUrl(ONE), dataUrl(bytes)] }),
      () =>
        editByForm([
          ["image[]", ONE],
          ["image[]", bytes],
        ]),
    ]) {
      const [first, second] = await sentFiles(call());
      expect(first![1]).toEqual(ONE);
      expect(await metadataOf(second![1])).toMatchObject(wanted);
    }
  });

  test("from the native protocol", async () => {
    const data = bytes.toString("base64");
    const parts = [{ text: "bluer" }, { inlineData: { mimeType: "image/heic", data } }];
    const path = `/v1beta/models/${MODELS.B}:generateContent`;
    const response = await fixture.gateway.call(path, { body: { contents: [{ role: "user", parts }] } });
    expect(response.status).toBe(200);
    await response.bytes();
    const { contents } = fixture.vendors.gemini.hits.at(-1)!.json() as {
      contents: { parts: { inlineData?: { mimeType: string; data: string } }[] }[];
    };
    const { inlineData } = contents[0]!.parts[1]!;
    expect(inlineData!.mimeType).toBe(`image/${sentAs}`);
    expect(await metadataOf(Buffer.from(inlineData!.data, "base64"))).toMatchObject(wanted);
  });

  test("has a mask of its size as it is shown, on edits and jobs", async () => {
    const fields = { prompt: "make it so", model: MODELS.A, image: dataUrl(bytes) };
    const invalid = { param: "mask", code: "invalid_image" };
    const stored = { ...fields, mask: dataUrl(makePng(64, 64)) };
    await refused(edit(stored), invalid);
    await refused(fixture.gateway.call("/api/jobs", { body: stored }), invalid);
    const mask = makePng(width, height);
    const [[, sent] = [], [, sentMask] = []] = await sentFiles(edit({ ...fields, mask: dataUrl(mask) }));
    expect(sentMask).toEqual(mask);
    expect(await metadataOf(sent!)).toMatchObject(wanted);
    const job = await submit(fixture.gateway, { ...fields, mask: dataUrl(mask) });
    expect(await untilStatus(fixture.gateway, job.id)).toMatchObject({ status: "completed" });
  });

  test("gives its shape to an edit and a job without one, which are priced by it", async () => {
    const body = { model: "sandbox-a", prompt: "x", quality: "low", image: dataUrl(bytes) };
    const ids = [`edit-of-${name}`, `job-of-${name}`].map((id) => id.replaceAll(" ", "-"));
    const [edited, jobId] = ids.map((id) => ({ headers: { "x-request-id": id } }));
    const response = await fixture.gateway.call("/v1/images/edits", { body, ...edited });
    const { size = "" } = (await response.json()) as { size?: string };
    const [across = 0, down = 0] = size.split("x").map(Number);
    expect(Math.abs(across / down / (width / height) - 1)).toBeLessThan(0.05);
    const lookUp = await fixture.gateway.call(`/v1/pricing/lookup?model=sandbox-a&quality=low&size=${size}`);
    const { total } = (await lookUp.json()) as { total: string };
    const job = await submit(fixture.gateway, body, jobId);
    await untilStatus(fixture.gateway, job.id);
    for (const id of ids) {
      const rows = await fixture.gateway.charged(id);
      expect([id, rows.map(({ amount }) => amount)]).toEqual([id, [parseNanos(total)]]);
    }
  });
});

describe("a refused picture is named by its number", () => {
  test.each([
    ["a cut PNG", cutPng, "is cut off"],
    ["a cut JPEG", cutJpeg, "is cut off"],
    ["a cut GIF", makeGif(40, 20, 1).subarray(0, -6), "is cut off"],
    ["a cut HEIC", HEIC.subarray(0, -40), "is cut off"],
    ["no picture", Buffer.from("hello, hello, hello"), "is not a PNG"],
    ["an empty one", Buffer.alloc(0), "is"],
  ])("%s", async (_, bytes, problem) => {
    const invalid = { code: "invalid_image", param: "image" };
    const byForm = await refused(
      editByForm([
        ["image[]", ONE],
        ["image[]", bytes],
        ["image[]", TWO],
      ]),
      invalid,
    );
    expect(byForm.message).toStartWith(`Image 2 of 3 ${problem}`);
    if (bytes.length === 0) return;
    const inJson = await refused(edit({ images: [dataUrl(ONE), dataUrl(TWO), dataUrl(bytes)] }), invalid);
    expect(inJson.message).toStartWith(`Image 3 of 3 ${problem}`);
  });

  test("alone, and as the mask", async () => {
    const alone = await refused(edit({ image: dataUrl(cutPng) }), { code: "invalid_image" });
    expect(alone.message).toStartWith("The image is cut off");
    const masked = await refused(edit({ image: dataUrl(ONE), mask: dataUrl(cutPng) }), { param: "mask" });
    expect(masked.message).toStartWith("The mask is cut off");
    const empty = await refused(
      editByForm([
        ["image", ONE],
        ["mask", Buffer.alloc(0)],
      ]),
      { param: "mask" },
    );
    expect(empty.message).toStartWith("The mask is empty");
  });

  test("in the native protocol", async () => {
    const part = (bytes: Uint8Array) => ({
      inlineData: { mimeType: "image/png", data: Buffer.from(bytes).toString("base64") },
    });
    const response = await fixture.gateway.call(`/v1beta/models/${MODELS.B}:generateContent`, {
      body: { contents: [{ parts: [{ text: "x" }, part(ONE), part(cutJpeg)] }] },
    });
    const { error } = (await response.json()) as { error: { message: string; details: object[] } };
    expect(error).toMatchObject({ code: 400, details: [{ reason: "invalid_image" }] });
    expect(error.message).toStartWith("Image 2 of 2 is cut off");
    expect(fixture.hits()).toBe(0);
  });
});

test("an edit without a shape of its own has the shape of image 1", async () => {
  const shapes = { A: "sandbox-a", B: "sandbox-b-fast", C: "sandbox-c", D: "sandbox-d-fast" };
  for (const model of Object.values(shapes))
    for (const [width, height] of [
      [160, 90],
      [90, 160],
    ] as const) {
      const image = dataUrl(makePng(width, height));
      const response = await fixture.gateway.call("/v1/images/edits", {
        body: { model, prompt: "x", image },
      });
      const { size = "" } = (await response.json()) as { size?: string };
      const [across = 0, down = 0] = size.split("x").map(Number);
      expect([model, Math.round((across / down / (width / height)) * 10)]).toEqual([model, 10]);
    }
});

proveNothingBilled();
