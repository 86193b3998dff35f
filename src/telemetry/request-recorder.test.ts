import { expect, test } from "bun:test";
import { requestEvent } from "../../test/support/request-event.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { RequestRecorder, type RecorderSettings } from "./request-recorder.ts";

const attempt = { channel: "c", upstreamModel: "u", durationMs: 4, outcome: "answered" as const };
const time = { now: 0 };

function recorderWith(settings: Partial<RecorderSettings> = {}): RequestRecorder {
  return new RequestRecorder(
    () => ({ log: "failed", slowMs: 1_000, ...settings }),
    () => time.now,
  );
}

function recorded(events: Partial<RequestEvent>[], settings: Partial<RecorderSettings> = {}) {
  const recorder = recorderWith(settings);
  for (const [index, event] of events.entries())
    recorder.listener(requestEvent({ id: String(index), keyId: "k", ...event }));
  return recorder.take().records;
}

test("only requests that failed, took several attempts or were slow are recorded", () => {
  const events: Partial<RequestEvent>[] = [
    {},
    { status: 500, code: "internal_error" },
    { code: "upstream_error" },
    { attempts: [attempt, attempt] },
    { durationMs: 1_000 },
    { attempts: [attempt], durationMs: 999 },
    { status: 404, route: "files" },
    { status: 401, route: "admin.keys.list" },
    { status: 503, route: "readiness" },
    { status: 499, code: "caller_gone" },
  ];
  const found = recorded(events);
  expect(found.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "9"]);
  expect(found.map(({ isFailed }) => isFailed)).toEqual([true, true, false, false, false]);
});

test("with all, every request with a key is recorded", () => {
  const found = recorded([{}, { keyId: null }, { route: "models" }], { log: "all" });
  expect(found.map(({ id }) => id)).toEqual(["0", "2"]);
});

test("secrets stay out, and what a caller was told and a vendor said is kept, cut", () => {
  const cause = new UpstreamError("rejected", "status 400", {
    vendorMessage: `no images, gk_abcdefghijkl ${"x".repeat(9_000)}`,
  });
  const [record] = recorded([
    {
      status: 400,
      code: "invalid_parameter",
      message: "not gk_abcdefghijkl",
      cause,
      askedModel: "m".repeat(500),
      client: "OpenAI/Python 2.1 (linux)",
    },
  ]);
  expect(record?.cause?.length).toBeLessThanOrEqual(500);
  expect(record).toMatchObject({
    message: "not [redacted]",
    cause: expect.stringContaining("rejected: status 400: no images, [redacted] xxx"),
    client: "OpenAI/Python",
    askedModel: "m".repeat(128),
  });
});

test("one key fills its share and no more, then a record in two seconds; others go on", () => {
  time.now = 0;
  const recorder = recorderWith();
  const refuse = (keyId: string | null, times: number) => {
    for (let index = 0; index < times; index += 1)
      recorder.listener(requestEvent({ status: 400, code: "invalid_parameter", keyId }));
    return recorder.take().records.length;
  };
  expect(refuse("hostile", 10_000)).toBe(500);
  expect(recorder.dropped).toBe(9_500);
  expect(refuse("other", 3)).toBe(3);
  expect(refuse(null, 400)).toBe(400);
  time.now = 20_000;
  expect(refuse("hostile", 1_000)).toBe(10);
  expect(recorder.families()[0]?.samples).toEqual([["", "", 9_500 + 990]]);
});

test("many keys together fill the share of the process and no more", () => {
  time.now = 0;
  const recorder = recorderWith();
  for (let index = 0; index < 5_000; index += 1)
    recorder.listener(requestEvent({ status: 400, keyId: `k${index}` }));
  expect(recorder.take().records).toHaveLength(1_000);
});

test("delivered pictures are noted, also of a request that is not recorded", () => {
  const recorder = recorderWith();
  const picture = { name: "a.png", width: 8, height: 4, format: "png", bytes: 70 } as const;
  recorder.listener(
    requestEvent({
      id: "r",
      requestId: "c",
      organizationId: "o",
      keyId: "k",
      model: "m",
      pictures: [picture],
    }),
  );
  const { records, pictures } = recorder.take();
  expect(records).toEqual([]);
  expect(pictures).toEqual([
    { ...picture, organizationId: "o", keyId: "k", model: "m", requestId: "c", ledgerId: "r", at: 0 },
  ]);
});
