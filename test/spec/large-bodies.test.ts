import { describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSpooledJson } from "../../src/lib/json-spool.ts";
import { readMultipart } from "../../src/lib/multipart.ts";
import { createSpool } from "../../src/lib/spool.ts";

/*
 * A request with sixteen reference images of the largest size. This file also runs as a separate process that reads the
 * request, so that only the reader's memory is measured. The variable `LARGE_BODY_FORM` names that process the body's
 * form.
 */
const FORM = process.env.LARGE_BODY_FORM;
const IMAGES = 16;
const IMAGE_BYTES = 36_700_160;
const PIECE_BYTES = 65_520;
const MEGABYTE = 1e6;

interface Figures {
  received: number;
  overIdleMegabytes: number;
  megabytesPerSecond: number;
  /** Counts only the user time, because the system's time includes its disk cache. */
  megabytesPerCpuSecond: number;
  longestStallMs: number;
  leftOver: number;
}

if (FORM === undefined) describe("sixteen images of 35 MiB", describeOutside);
else test("measure", () => measure(FORM), 60_000);

function describeOutside(): void {
  test.each(["multipart", "json"])(
    "by %s take little memory and time and leave no files",
    async (form) => {
      const child = Bun.spawn([process.execPath, "test", import.meta.path], {
        env: { ...process.env, LARGE_BODY_FORM: form },
        stdout: "pipe",
        stderr: "ignore",
      });
      const output = await new Response(child.stdout).text();
      const figures = JSON.parse(/^FIGURES (.*)$/m.exec(output)?.[1] ?? "null") as Figures | null;
      if (!figures) throw new Error(output);
      console.log(`${form}: ${JSON.stringify(figures)}`);
      expect(figures.received).toBe(IMAGES * IMAGE_BYTES);
      expect(figures.overIdleMegabytes).toBeLessThanOrEqual(200);
      expect(figures.megabytesPerCpuSecond).toBeGreaterThanOrEqual(100);
      expect(figures.longestStallMs).toBeLessThan(100);
      expect(figures.leftOver).toBe(0);
    },
    60_000,
  );
}

async function measure(form: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "large-body-"));
  const text = Buffer.from(crypto.getRandomValues(new Uint8Array(PIECE_BYTES)));
  const body = form === "json" ? jsonBody(text) : multipartBody(text);
  await Bun.sleep(50);
  const watch = watchProcess();
  const { received, sent } = await readBody(form, body, directory);
  const figures: Figures = {
    received,
    ...watch.end(sent.byteLength),
    leftOver: (await readdir(directory)).length,
  };
  await rm(directory, { recursive: true, force: true });
  console.log(`FIGURES ${JSON.stringify(figures)}`);
}

async function readBody(form: string, body: Iterable<Buffer>, directory: string) {
  const sent = { byteLength: 0 };
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const chunk of body) {
      sent.byteLength += chunk.byteLength;
      // Each chunk is a copy, because the reader of a body releases the memory of its chunks.
      yield Buffer.from(new Uint8Array(chunk).buffer);
    }
  }
  await using spool = createSpool(directory);
  if (form === "json") {
    const options = { decode: (path: readonly (string | number)[]) => path[0] === "images" };
    const { images } = (await readSpooledJson(chunks(), spool, options)) as {
      images: { byteLength: number }[];
    };
    return { sent, received: images.reduce((sum, image) => sum + image.byteLength, 0) };
  }
  const parts = await readMultipart(chunks(), "multipart/form-data; boundary=edge", spool);
  return {
    sent,
    received: parts.reduce((sum, part) => sum + (part.kind === "file" ? part.byteLength : 0), 0),
  };
}

function* repeat(piece: Buffer, byteLength: number): Generator<Buffer> {
  for (let rest = byteLength; rest > 0; rest -= piece.byteLength) yield piece.subarray(0, rest);
}

function* jsonBody(text: Buffer): Generator<Buffer> {
  const encoded = Buffer.from(text.toString("base64"));
  yield Buffer.from('{"model":"m","images":[');
  for (let image = 0; image < IMAGES; image += 1) {
    yield Buffer.from(`${image ? "," : ""}"data:image/png;base64,`);
    yield* repeat(encoded, Math.ceil(IMAGE_BYTES / 3) * 4 - 4);
    yield Buffer.from(text.subarray(0, IMAGE_BYTES % 3 || 3).toString("base64"));
    yield Buffer.from('"');
  }
  yield Buffer.from("]}");
}

function* multipartBody(text: Buffer): Generator<Buffer> {
  for (let image = 0; image < IMAGES; image += 1) {
    yield Buffer.from('--edge\r\nContent-Disposition: form-data; name="image[]"; filename="a.png"\r\n\r\n');
    yield* repeat(text, IMAGE_BYTES);
    yield Buffer.from("\r\n");
  }
  yield Buffer.from("--edge--\r\n");
}

/** Stalls count only while this process computes, not while it waits for a core. */
function watchProcess() {
  const idleBytes = process.memoryUsage.rss();
  const startedAt = performance.now();
  const started = process.cpuUsage();
  let [peakBytes, longestStallMs, seenAt, seenCpuMs] = [idleBytes, 0, startedAt, 0];
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000;
  };
  const sample = () => {
    const [now, cpu] = [performance.now(), cpuMs()];
    longestStallMs = Math.max(longestStallMs, Math.min(now - seenAt, cpu - seenCpuMs));
    [seenAt, seenCpuMs] = [now, cpu];
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  };
  const timer = setInterval(sample, 5);
  return {
    end(byteLength: number) {
      sample();
      clearInterval(timer);
      return {
        overIdleMegabytes: Math.round((peakBytes - idleBytes) / MEGABYTE),
        megabytesPerSecond: Math.round(byteLength / MEGABYTE / ((performance.now() - startedAt) / 1000)),
        megabytesPerCpuSecond: Math.round(byteLength / process.cpuUsage(started).user),
        longestStallMs: Math.round(longestStallMs),
      };
    },
  };
}
