import { expect, test } from "bun:test";
import type { JournalRecord } from "../gateway/ports.ts";
import { segmentBooks } from "./segment-books.ts";

function aRecord(type: JournalRecord["type"], id: string): JournalRecord {
  return {
    type,
    entry: {
      id,
      kind: "charge",
      requestId: id,
      organizationId: "org",
      keyId: "key",
      model: "m",
      channel: null,
      upstreamModel: null,
      at: 0,
      usage: null,
      amount: 0n,
      currency: "USD",
      priceSource: "default",
      orphanCost: 0n,
      budgets: [],
      attempts: [],
      flags: [],
    },
  };
}

test("a segment is needed until its charges are posted", () => {
  const books = segmentBooks();
  books.heard(aRecord("charge", "a"), 1);
  books.heard(aRecord("charge", "b"), 2);
  expect(books.takeSettled(3)).toEqual([]);
  books.posted(1);
  expect(books.takeSettled(3)).toEqual([1]);
  expect(books.takeSettled(3)).toEqual([]);
});

test("a segment is needed while it holds the last checkpoint of a running request", () => {
  const books = segmentBooks();
  books.heard(aRecord("checkpoint", "a"), 1);
  expect(books.takeSettled(3)).toEqual([]);
  books.heard(aRecord("checkpoint", "a"), 2);
  expect(books.takeSettled(3)).toEqual([1]);
  books.heard(aRecord("charge", "a"), 3);
  expect(books.isSettled()).toBe(false);
  books.posted(3);
  expect(books.isSettled()).toBe(true);
  expect(books.takeSettled(3)).toEqual([2]);
});

test("the segment being written is never given up", () => {
  const books = segmentBooks();
  books.heard(aRecord("charge", "a"), 1);
  books.posted(1);
  expect(books.takeSettled(1)).toEqual([]);
});
