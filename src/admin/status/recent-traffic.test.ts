import { expect, test } from "bun:test";
import type { TrafficSum } from "../usage/store-port.ts";
import { recentFailures } from "./recent-traffic.ts";

const MINUTE_MS = 60_000;
const NOW = 100 * MINUTE_MS;

/** Returns the calls of one minute, some of which failed at the vendor. */
const minute = (minutesAgo: number, failed: number, good: number): TrafficSum[] => {
  const sum = { at: NOW - minutesAgo * MINUTE_MS, organizationId: "", keyId: "", model: "m", channel: "c" };
  const common = { ...sum, route: "attempt", errors: 0, durations: [] };
  return [
    { ...common, code: "overloaded", requests: failed },
    { ...common, code: "", requests: good },
  ];
};

test.each<[string, [number, number, number][], { failed: number; all: number } | null]>([
  ["two of two", [[1, 2, 0]], null],
  ["three of six", [[1, 3, 3]], { failed: 3, all: 6 }],
  ["three of seven", [[1, 3, 4]], null],
  ["five of fifty", [[1, 5, 45]], { failed: 5, all: 50 }],
  ["five of fifty-one", [[1, 5, 46]], null],
  ["four of forty", [[1, 4, 36]], null],
  [
    "some before the ten newest",
    [
      [1, 0, 10],
      [2, 9, 0],
    ],
    null,
  ],
  [
    "some among the ten newest",
    [
      [1, 0, 9],
      [2, 9, 0],
    ],
    { failed: 9, all: 18 },
  ],
  ["some of more than five minutes ago", [[7, 9, 0]], null],
])("failures of %s are trouble, or not", (_, minutes, expected) => {
  const found = recentFailures(
    minutes.flatMap((each) => minute(...each)),
    NOW,
  );
  expect(found && { failed: found.failed, all: found.all }).toEqual(expected);
});

test("what a caller did wrong or ended is no failure of a vendor", () => {
  const codes = ["rejected", "refused", "caller_gone", "stopped"];
  const sums = minute(1, 9, 0).flatMap((sum) => codes.map((code) => ({ ...sum, code })));
  expect(recentFailures(sums, NOW)).toBeNull();
});
