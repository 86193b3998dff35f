import { expect, test } from "bun:test";
import { requestEvent } from "../../test/support/request-event.ts";
import { durationBucket, percentile } from "../domain/traffic.ts";
import { TrafficCounters } from "./traffic-counters.ts";

const MINUTE_MS = 60_000;
const known = { organizationId: "o", keyId: "k", model: "m", channel: "c" };

test("requests and calls to vendors are counted by the minute in which they ended", () => {
  const traffic = new TrafficCounters();
  const attempt = {
    channel: "c",
    upstreamModel: "u",
    durationMs: 30,
    outcome: "answered",
    status: 200,
  } as const;
  const failed = { ...attempt, channel: "d", outcome: "overloaded", status: 503 } as const;
  const event = requestEvent({ ...known, at: MINUTE_MS - 10, durationMs: 40, attempts: [failed, attempt] });
  traffic.listener(event);
  traffic.listener(event);
  traffic.listener(requestEvent({ ...known, at: MINUTE_MS, status: 429, code: "rate_limit_exceeded" }));
  const counts = traffic.take();
  expect(counts).toHaveLength(4);
  const of = (route: string, code: string) =>
    counts.find((each) => each.route === route && each.code === code);
  expect(of("chat", "")).toMatchObject({ ...named(), at: MINUTE_MS, requests: 2, status: "2" });
  expect(of("chat", "")?.durations[durationBucket(40)]).toBe(2);
  expect(of("chat", "rate_limit_exceeded")).toMatchObject({ requests: 1, status: "4" });
  expect(of("attempt", "")).toMatchObject({ channel: "c", requests: 2 });
  expect(of("attempt", "overloaded")).toMatchObject({ channel: "d", requests: 2, status: "5" });
  expect(traffic.take()).toEqual([]);
});

function named() {
  const { organizationId, keyId, model, channel } = known;
  return { organizationId, keyId, model, channel };
}

test("of the failed requests those are counted apart that the ledger has too", () => {
  const traffic = new TrafficCounters();
  const failed = requestEvent({ ...known, code: "upstream_error" });
  traffic.listener({ ...failed, ledgerId: "l1" });
  traffic.listener({ ...failed, ledgerId: null });
  traffic.listener({ ...failed, code: "caller_gone", ledgerId: "l2" });
  traffic.listener({ ...failed, code: null, ledgerId: "l3" });
  const counts = Object.fromEntries(traffic.take().map(({ code, charged }) => [code, charged]));
  expect(counts).toEqual({ upstream_error: 1, caller_gone: 0, "": 0 });
});

test("a request that calls no model is not counted", () => {
  const traffic = new TrafficCounters();
  for (const route of ["health", "models", "none", "admin.overview.get", "jobs.submit"])
    traffic.listener(requestEvent({ route }));
  expect(traffic.take()).toEqual([]);
});

test("counts that the database did not take are added to later ones", () => {
  const traffic = new TrafficCounters();
  traffic.listener(requestEvent({ ...known, durationMs: 3 }));
  const taken = traffic.take();
  traffic.listener(requestEvent({ ...known, durationMs: 3 }));
  traffic.giveBack(taken);
  expect(traffic.take()).toMatchObject([{ requests: 2, durations: expect.arrayContaining([2]) }]);
});

test("memory is bounded: beyond so many names, requests are counted without", () => {
  const traffic = new TrafficCounters();
  for (let index = 0; index < 20_500; index += 1)
    traffic.listener(requestEvent({ ...known, keyId: `k${index}` }));
  const counts = traffic.take();
  expect(counts.length).toBeLessThanOrEqual(20_001);
  expect(counts.reduce((sum, { requests }) => sum + requests, 0)).toBe(20_500);
});

test("percentiles lie within a bucket of the truth", () => {
  const durations = Array.from({ length: 1000 }, (_, index) => index + 1);
  const buckets: number[] = [];
  for (const each of durations) buckets[durationBucket(each)] = (buckets[durationBucket(each)] ?? 0) + 1;
  const filled = Array.from({ length: 18 }, (_, index) => buckets[index] ?? 0);
  expect(percentile(filled, 0.5)).toBeWithin(400, 600);
  expect(percentile(filled, 0.95)).toBeWithin(850, 1280);
  expect(percentile([], 0.5)).toBeNull();
  expect([0, 5, 5.1, 10, 11, 1e9].map(durationBucket)).toEqual([0, 0, 1, 1, 2, 17]);
});
