import { expect, test } from "bun:test";
import { durationBucket, DURATION_BUCKETS } from "../../domain/traffic.ts";
import type { TrafficSum } from "../usage/store-port.ts";
import { slowCauses } from "./traffic-causes.ts";

const waiting = [61_000, 62_000, 63_000].map((waitedMs) => ({
  organization: "default",
  channel: "house",
  waitedMs,
}));

test("what is usual is told of a slow vendor only where it is known", () => {
  const traffic = { calls: [], requests: [] };
  const [known] = slowCauses({ ...traffic, usualMs: new Map([["house", 1_200]]) }, waiting, 0);
  expect(known?.message).toBe("house takes 63 s to answer, usually 1.2 s.");
  expect(known?.figures).toMatchObject({ usual: 1.2 });
  for (const usualMs of [new Map(), new Map([["house", 20]])]) {
    const [unknown] = slowCauses({ ...traffic, usualMs }, waiting, 0);
    expect(unknown?.message).toBe("house takes 63 s to answer.");
    expect(unknown?.figures).not.toHaveProperty("usual");
  }
});

test.each([
  ["three that wait for over ten seconds and eight times as long as is usual", 1_000, [11, 11, 11], true],
  ["two of them", 1_000, [11, 11, 9], false],
  ["three that wait for less than eight times as long", 2_000, [15, 15, 15], false],
  ["three that wait for over eight times as long", 2_000, [17, 17, 17], true],
] as const)("a vendor with %s is slow, or not", (_, usual, waited, isSlow) => {
  const calls = waited.map((seconds) => ({ ...waiting[0]!, waitedMs: seconds * 1_000 }));
  const traffic = { calls: [], requests: [], usualMs: new Map([["house", usual]]) };
  expect(slowCauses(traffic, calls, 0)).toHaveLength(isSlow ? 1 : 0);
});

test.each([
  ["most of three take half of that", [7_000, 7_000, 100], true],
  ["most of two do", [7_000, 7_000], false],
  ["one of three does", [7_000, 100, 100], false],
])("a vendor whose answers come late is slow where %s", (_, answeredMs, isSlow) => {
  const durations = Array.from({ length: DURATION_BUCKETS }, () => 0);
  for (const milliseconds of answeredMs) durations[durationBucket(milliseconds)]! += 1;
  const call: TrafficSum = {
    at: 0,
    organizationId: "default",
    keyId: "",
    model: "m",
    channel: "house",
    route: "attempt",
    code: "",
    requests: answeredMs.length,
    errors: 0,
    durations,
  };
  const traffic = { calls: [call], requests: [], usualMs: new Map([["house", 1_200]]) };
  expect(slowCauses(traffic, [], 0)).toHaveLength(isSlow ? 1 : 0);
});
