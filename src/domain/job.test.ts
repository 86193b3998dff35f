import { expect, test } from "bun:test";
import fc from "fast-check";
import { progressOf, type Job } from "./job.ts";

const job: Job = {
  id: "job_1",
  organizationId: "org",
  model: "m",
  status: "in_progress",
  stage: 20,
  typicalMs: 10_000,
  createdAt: 0,
  startedAt: 1_000,
  endedAt: null,
  readAt: 1_000,
  isCancelRequested: false,
  outputs: [],
  error: null,
};

test("progress goes from 20 to 90 by the typical time, whatever the clocks say", () => {
  expect([1_000, 6_000, 11_000, 99_000].map((readAt) => progressOf({ ...job, readAt }))).toEqual([
    20, 55, 90, 90,
  ]);
  expect(progressOf({ ...job, readAt: 0 })).toBe(20);
  expect(progressOf({ ...job, endedAt: 6_000, readAt: 99_000, status: "failed" })).toBe(55);
});

test("progress never goes back", () => {
  const stages = fc.constantFrom(5, 10, 20, 95, 100);
  const views = fc.array(fc.tuple(stages, fc.nat(60_000)), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(views, (seen) => {
      const inOrder = seen.toSorted(([one, first], [other, second]) => one - other || first - second);
      const shown = inOrder.map(([stage, readAt]) =>
        progressOf({ ...job, stage, readAt, startedAt: stage < 20 ? null : 1_000 }),
      );
      expect(shown).toEqual(shown.toSorted((one, other) => one - other));
    }),
  );
});
