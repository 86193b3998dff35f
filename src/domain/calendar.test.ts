import { expect, test } from "bun:test";
import { runningPeriod } from "./calendar.ts";

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
