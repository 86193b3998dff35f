import { expect, test } from "bun:test";
import { InvalidArgumentError } from "commander";
import { readTime } from "./options.ts";

test.each([
  ["2026-12-31", "2026-12-31T00:00:00.000Z"],
  ["2028-02-29", "2028-02-29T00:00:00.000Z"],
  ["2026-12-31T18:00", "2026-12-31T18:00:00.000Z"],
  ["2026-12-31T18:00:01", "2026-12-31T18:00:01.000Z"],
  ["2026-12-31T18:00:01.500Z", "2026-12-31T18:00:01.500Z"],
  ["2026-12-31T23:30-01:00", "2027-01-01T00:30:00.000Z"],
  ["2026-07-01T00:15:00+05:30", "2026-06-30T18:45:00.000Z"],
])("the time %p is %s, whatever the machine's zone is", (text, time) => {
  for (const zone of ["Asia/Tokyo", "America/New_York", "UTC"])
    expect(inZone(zone, () => new Date(readTime(text)).toISOString())).toBe(time);
});

test.each([
  "soon",
  "2026-1-1",
  "2026-12-31 18:00",
  "2026-12-31T18",
  "2026-12-31Z",
  "2026-12-31T18:00 PST",
  "",
])("%p is not of the form of a time", (text) => {
  expect(() => readTime(text)).toThrow(
    "It must be a date or time such as 2026-12-31 or 2026-12-31T18:00:00Z.",
  );
});

test.each([
  "2027-02-30",
  "2027-02-29T10:00Z",
  "2027-13-01",
  "2027-01-01T24:00",
  "2027-01-01T10:00:60",
  "2027-01-01T10:00+23:60",
])("the time %p does not exist", (text) => {
  expect(() => readTime(text)).toThrow(new InvalidArgumentError("It must be a date or time that exists."));
});

function inZone<T>(zone: string, work: () => T): T {
  const before = process.env["TZ"];
  process.env["TZ"] = zone;
  try {
    return work();
  } finally {
    process.env["TZ"] = before ?? "UTC";
  }
}
