import { expect, test } from "bun:test";
import { daysIn, runningPeriod } from "./calendar.ts";

const at = (iso: string) => Date.parse(iso);

test("a day begins at midnight UTC", () => {
  expect(runningPeriod("day", 0, at("2026-03-01T23:59:59.999Z"))).toBe(at("2026-03-01T00:00:00Z"));
  expect(runningPeriod("day", 0, at("2026-03-02T00:00:00Z"))).toBe(at("2026-03-02T00:00:00Z"));
});

test("a month begins on its first day UTC", () => {
  expect(runningPeriod("month", 0, at("2028-02-29T12:00:00Z"))).toBe(at("2028-02-01T00:00:00Z"));
});

test("a total budget has one period for ever", () => {
  expect(runningPeriod("total", 17, at("2099-01-01T00:00:00Z"))).toBe(17);
});

test("a clock that jumps back never begins an earlier period", () => {
  const today = at("2026-03-02T00:00:00Z");
  expect(runningPeriod("day", today, at("2026-03-01T22:00:00Z"))).toBe(today);
});

test.each([
  ["Europe/Berlin", "2026-06-15T12:00Z", "2026-06-14T22:00Z", "2026-06-15T22:00Z"],
  ["Europe/Berlin", "2026-03-29T12:00Z", "2026-03-28T23:00Z", "2026-03-29T22:00Z"],
  ["Europe/Berlin", "2026-10-25T00:30Z", "2026-10-24T22:00Z", "2026-10-25T23:00Z"],
  ["America/Los_Angeles", "2026-11-01T03:00Z", "2026-10-31T07:00Z", "2026-11-01T07:00Z"],
  ["America/Los_Angeles", "2026-11-01T20:00Z", "2026-11-01T07:00Z", "2026-11-02T08:00Z"],
  ["Asia/Kathmandu", "2026-06-15T18:14Z", "2026-06-14T18:15Z", "2026-06-15T18:15Z"],
  ["Asia/Kathmandu", "2026-06-15T18:15Z", "2026-06-15T18:15Z", "2026-06-16T18:15Z"],
  ["UTC", "2026-06-15T00:00Z", "2026-06-15T00:00Z", "2026-06-16T00:00Z"],
])("a day in %s at %s begins at %s and ends at %s", (zone, at, start, end) => {
  const { startOf, nextOf } = daysIn(zone);
  const begun = startOf(Date.parse(at));
  expect(new Date(begun).toISOString()).toBe(new Date(start).toISOString());
  expect(new Date(nextOf(begun)).toISOString()).toBe(new Date(end).toISOString());
});
