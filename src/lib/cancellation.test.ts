import { expect, test } from "bun:test";
import { LightCancellation, signalOf } from "./waiting.ts";

test("a light cancellation calls each listener once, at the first abort", () => {
  const cancellation = new LightCancellation();
  const calls: string[] = [];
  const removed = () => calls.push("removed");
  cancellation.addEventListener("abort", () => calls.push("first"));
  cancellation.addEventListener("abort", removed);
  cancellation.addEventListener("abort", () => calls.push("second"));
  cancellation.removeEventListener("abort", removed);
  cancellation.throwIfAborted();
  const reason = new Error("too late");
  cancellation.abort(reason);
  cancellation.abort(new Error("again"));
  expect(calls).toEqual(["first", "second"]);
  expect(cancellation.aborted).toBe(true);
  expect(cancellation.reason).toBe(reason);
  expect(() => cancellation.throwIfAborted()).toThrow(reason);
});

test("its signal is aborted with it, whenever it is asked for", () => {
  const cancellation = new LightCancellation();
  const early = signalOf(cancellation);
  expect(early.aborted).toBe(false);
  const reason = new Error("gone");
  cancellation.abort(reason);
  expect(early.reason).toBe(reason);
  expect(signalOf(cancellation)).toBe(early);
  const late = new LightCancellation();
  late.abort(reason);
  expect(signalOf(late).reason).toBe(reason);
  expect(signalOf(early)).toBe(early);
});
