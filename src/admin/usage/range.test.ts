import { expect, test } from "bun:test";
import { readSeries } from "./range.ts";

const NOW = Date.UTC(2026, 5, 15, 10, 30);
const DAY_MS = 86_400_000;

test("days of a zone begin at its midnight", () => {
  const range = { from: NOW - 7 * DAY_MS, zone: "America/New_York", interval: "day" } as const;
  const { points, where, zone } = readSeries(range, NOW, DAY_MS);
  expect(points.map((at) => new Date(at).toISOString())).toEqual(
    Array.from({ length: 8 }, (_, index) => new Date(Date.UTC(2026, 5, 8 + index, 4)).toISOString()),
  );
  expect([zone, where.span, where.days]).toEqual(["America/New_York", "day", points]);
});

test.each([
  ["of days, longer than four months", { from: NOW - 130 * DAY_MS, interval: "day" }],
  ["of hours, longer than a month", { from: NOW - 60 * DAY_MS, isOfHours: true }],
  ["by the month", { from: NOW - 200 * DAY_MS, interval: "month" }],
  ["by the hour", { from: NOW - DAY_MS, interval: "hour" }],
] as const)("a range %s has steps in UTC, whatever zone is asked for", (_, range) => {
  const { zone, points, interval, where } = readSeries({ ...range, zone: "Asia/Tokyo" }, NOW, DAY_MS);
  expect([zone, where.span]).toEqual(["UTC", interval]);
  expect(points.every((at) => at % 3_600_000 === 0)).toBe(true);
});
