import { expect, test } from "bun:test";
import { readSeries } from "./range.ts";

const NOW = Date.UTC(2026, 5, 15, 10, 30);
const DAY_MS = 86_400_000;

test("days of a zone begin at its midnight, and are made of hours", () => {
  const range = { from: NOW - 7 * DAY_MS, zone: "America/New_York", interval: "day" } as const;
  const { points, where, zone, pointOf } = readSeries(range, NOW, DAY_MS);
  expect(points.map((at) => new Date(at).toISOString())).toEqual(
    Array.from({ length: 8 }, (_, index) => new Date(Date.UTC(2026, 5, 8 + index, 4)).toISOString()),
  );
  expect([zone, where.span]).toEqual(["America/New_York", "hour"]);
  expect(new Date(pointOf(Date.UTC(2026, 5, 10, 3))).toISOString()).toBe("2026-06-09T04:00:00.000Z");
  expect(new Date(pointOf(Date.UTC(2026, 5, 10, 4))).toISOString()).toBe("2026-06-10T04:00:00.000Z");
});

test.each([
  ["longer than a month", { from: NOW - 60 * DAY_MS }],
  ["by the month", { from: NOW - 200 * DAY_MS, interval: "month" }],
  ["by the hour", { from: NOW - DAY_MS, interval: "hour" }],
] as const)("a range %s has steps in UTC, whatever zone is asked for", (_, range) => {
  const { zone, points, interval, where } = readSeries({ ...range, zone: "Asia/Tokyo" }, NOW, DAY_MS);
  expect([zone, where.span]).toEqual(["UTC", interval]);
  expect(points.every((at) => at % 3_600_000 === 0)).toBe(true);
});
