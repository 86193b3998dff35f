import { expect, test } from "bun:test";
import { anEntry } from "../../../test/contracts/storage-harness.ts";
import type { JournalRecord } from "../../gateway/metering/stores.ts";
import { segmentRefcounts } from "./shipper.ts";

function aRecord(type: JournalRecord["type"], id: string): JournalRecord {
  return { type, entry: anEntry(id, 0n) };
}

test("a segment is needed until its charges are posted", () => {
  const refcounts = segmentRefcounts();
  refcounts.add(aRecord("charge", "a"), 1);
  refcounts.add(aRecord("charge", "b"), 2);
  expect(refcounts.takeSettled(3)).toEqual([]);
  refcounts.posted(1, 1);
  expect(refcounts.takeSettled(3)).toEqual([1]);
  expect(refcounts.takeSettled(3)).toEqual([]);
});

test("a segment is needed while it holds the last checkpoint of a running request", () => {
  const refcounts = segmentRefcounts();
  refcounts.add(aRecord("checkpoint", "a"), 1);
  expect(refcounts.takeSettled(3)).toEqual([]);
  refcounts.add(aRecord("checkpoint", "a"), 2);
  expect(refcounts.takeSettled(3)).toEqual([1]);
  refcounts.add(aRecord("charge", "a"), 3);
  expect(refcounts.isSettled()).toBe(false);
  refcounts.posted(3, 1);
  expect(refcounts.isSettled()).toBe(true);
  expect(refcounts.takeSettled(3)).toEqual([2]);
});

test("a charge that is journaled again replaces no checkpoint a second time", () => {
  const refcounts = segmentRefcounts();
  refcounts.add(aRecord("checkpoint", "a"), 1);
  for (const segment of [2, 3]) {
    refcounts.add(aRecord("charge", "a"), segment);
    refcounts.posted(segment, 1);
  }
  expect(refcounts.isSettled()).toBe(true);
  expect(refcounts.takeSettled(4)).toEqual([1, 2, 3]);
});

test("the segment being written is never deletable", () => {
  const refcounts = segmentRefcounts();
  refcounts.add(aRecord("charge", "a"), 1);
  refcounts.posted(1, 1);
  expect(refcounts.takeSettled(1)).toEqual([]);
});
