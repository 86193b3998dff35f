import { expect, jest, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { ClaimedJob } from "./ports.ts";
import { RunControl } from "./run-control.ts";

const AT_VENDOR = { channel: "c", upstreamModel: "m", vendorJobs: { 0: "job-1" } };

function open(sent: ClaimedJob["sent"], isCancelRequested = false): RunControl {
  return new RunControl({ remainingMs: 60_000, isCancelRequested, sent } as ClaimedJob);
}

test("a job that no vendor has is cancelled at once", () => {
  using control = open(null);
  control.cancel();
  expect([control.isCancelled, control.signal.aborted]).toEqual([true, true]);
});

test.each([["before it was claimed"], ["since"]])(
  "a job that was cancelled %s stops once its vendor's own job is looked at, so that it is cancelled there",
  async (when) => {
    using control = open(AT_VENDOR, when !== "since");
    control.cancel();
    expect([control.isCancelled, control.signal.aborted]).toEqual([true, false]);
    control.beforePoll();
    expect(control.signal.aborted).toBe(false);
    await setImmediate();
    expect(control.signal.aborted).toBe(true);
  },
);

test("the first reason for which a job was stopped decides how it ends", () => {
  using control = open(null);
  control.stop("overdue");
  control.stop("handed over");
  expect([control.isOverdue, control.isHandedOver]).toEqual([true, false]);
});

test("a job is stopped at the deadline of its submission, whichever run it is", () => {
  jest.useFakeTimers();
  try {
    using control = new RunControl({
      remainingMs: 5_000,
      isCancelRequested: false,
      sent: null,
    } as ClaimedJob);
    jest.advanceTimersByTime(4_999);
    expect(control.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect([control.signal.aborted, control.isOverdue]).toEqual([true, true]);
  } finally {
    jest.useRealTimers();
  }
});
