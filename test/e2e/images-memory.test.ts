import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import {
  edits,
  generations,
  measure,
  MODEL,
  openRig,
  spooled,
  type Figures,
  type Rig,
} from "../battery/images-memory.ts";

/*
 * The short form of `npm run battery -- --only images`: memory and temporary files of large image calls, and the delay
 * of other requests.
 */
const MIB = 1024 * 1024;
const STALL_MS = 100;

let rig: Rig;

beforeAll(async () => {
  rig = await openRig();
  // The first call compiles the code.
  await edits(rig, "multipart", 1, { references: 1, referenceBytes: MIB })();
  await edits(rig, "json", 1, { references: 1, referenceBytes: MIB })();
});
afterAll(() => rig[Symbol.asyncDispose]());

describe("large references", () => {
  test.each(["multipart", "json"] as const)(
    "of 16 x 35 MiB by %s take at most 200 MB and leave no file",
    async (form) => {
      const figures = await measured(`one edit by ${form}`, edits(rig, form, 1));
      expect(figures.statuses).toEqual([200]);
      expect(figures.overIdleMb).toBeLessThanOrEqual(200);
      expectNoStalls(figures);
    },
    30_000,
  );

  test("four edits at once take at most 400 MB", async () => {
    const figures = await measured("four edits at once", edits(rig, "json", 4, { referenceBytes: 8 * MIB }));
    expect(figures.statuses).toEqual([200, 200, 200, 200]);
    expect(figures.overIdleMb).toBeLessThanOrEqual(400);
    expectNoStalls(figures);
  }, 30_000);
});

describe("large responses", () => {
  test.each([1, 4])("of 20 MB base64, %d at once, delay no other request", async (count) => {
    const figures = await measured(`${count} answers at once`, generations(rig, count, 20_000_000));
    expect(figures.statuses).toEqual(Array.from({ length: count }, () => 200));
    expectNoStalls(figures);
  });
});

describe("temporary files", () => {
  const paced = { references: 4, referenceBytes: 8 * MIB, pace: 24 * MIB };

  test("are removed when the client disconnects during an upload", async () => {
    const body = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new Uint8Array(64 * 1024));
        await Bun.sleep(1);
      },
    });
    const controller = new AbortController();
    const headers = { "content-type": "multipart/form-data; boundary=edge" };
    const head = '--edge\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n';
    const call = rig.gateway.call("/v1/images/edits", {
      method: "POST",
      headers,
      signal: controller.signal,
      body: new Blob([head]).stream().pipeThrough(followedBy(body)),
    });
    await until("a temporary file", () => (spooled(rig.gateway).length > 0 ? true : undefined));
    controller.abort();
    await call.catch(() => undefined);
    await untilNoFiles();
  });

  /** Starts a large response and reads only its beginning, so that its picture is still on disk. */
  async function startResponse(signal?: AbortSignal): Promise<Response> {
    const body = { model: MODEL, prompt: "[[base64=20000000]]", response_format: "b64_json" };
    const response = await rig.gateway.call("/v1/images/generations", { body, ...(signal && { signal }) });
    await response.body!.getReader().read();
    expect(spooled(rig.gateway).length).toBeGreaterThan(0);
    return response;
  }
  const untilNoFiles = () =>
    until("the spool to be empty", () => (spooled(rig.gateway).length === 0 ? true : undefined), 5_000);

  test("are removed when the client disconnects during a response", async () => {
    const controller = new AbortController();
    await startResponse(controller.signal);
    controller.abort();
    await untilNoFiles();
  });

  test("are removed when the client disconnects before the response", async () => {
    const controller = new AbortController();
    const body = { model: MODEL, prompt: "[[base64=20000000]]", response_format: "b64_json" };
    const call = rig.gateway.call("/v1/images/generations", { body, signal: controller.signal });
    await until("a temporary file", () => (spooled(rig.gateway).length > 0 ? true : undefined));
    controller.abort();
    await call.catch(() => undefined);
    await untilNoFiles();
  });

  test("are removed when a vendor's response is truncated", async () => {
    const body = { model: MODEL, prompt: "[[base64=20000000]] [[cut]]", response_format: "b64_json" };
    expect((await rig.gateway.call("/v1/images/generations", { body })).status).toBe(502);
    await untilNoFiles();
  });

  test("of a gateway killed during a response are removed by the next start", async () => {
    await startResponse();
    await rig.gateway.kill();
    expect(spooled(rig.gateway).length).toBeGreaterThan(0);
    await rig.gateway.restart();
    expect(spooled(rig.gateway)).toEqual([]);
  });

  test("of a killed gateway are removed by the next start", async () => {
    const upload = rig.upload("multipart", paced);
    await until("a temporary file", () => (spooled(rig.gateway).length > 1 ? true : undefined));
    await rig.gateway.kill();
    expect((await upload).status).toBe(0);
    expect(spooled(rig.gateway).length).toBeGreaterThan(0);
    await rig.gateway.restart();
    expect(spooled(rig.gateway)).toEqual([]);
  });
});

async function measured(what: string, calls: Parameters<typeof measure>[2]): Promise<Figures> {
  const figures = await measure(rig, what, calls);
  console.log(JSON.stringify(figures));
  return figures;
}

function expectNoStalls(figures: Figures): void {
  expectNoFiles(figures);
  expect(figures.stallMs).toBeLessThanOrEqual(STALL_MS);
}

function expectNoFiles({ leftOver, cleanAfterMs }: Figures): void {
  expect(leftOver).toBe(0);
  expect(cleanAfterMs).toBeLessThanOrEqual(5_000);
}

/** Forwards a stream, then `rest`. */
function followedBy(rest: ReadableStream<Uint8Array>): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async flush(controller) {
      for await (const piece of rest) controller.enqueue(piece);
    },
  });
}
