import { expect, test } from "bun:test";
import type { BlobStore } from "../gateway/delivery/stored-blobs.ts";
import type { JobStore } from "./ports.ts";
import { sweepJobs } from "./retention.ts";
import type { WebhookQueue } from "./webhook-ports.ts";

test("a sweep continues until nothing old is left, and removes the files of what has ended", async () => {
  const removed: string[] = [];
  const counts = { overdue: 120, expired: 60, jobs: 50, messages: 0 };
  const take = (what: keyof typeof counts, limit: number): number => {
    const count = Math.min(counts[what], limit);
    counts[what] -= count;
    return count;
  };
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const jobs: Partial<JobStore> = {
    endOverdue: async (limit) => {
      const count = take("overdue", limit);
      return { count, files: names("upload", count) };
    },
    expire: async (_, limit) => {
      const count = take("expired", limit);
      return { count, names: names("output", count) };
    },
    remove: async (_, limit) => take("jobs", limit),
  };
  const webhooks: Partial<WebhookQueue> = { remove: async (_, limit) => take("messages", limit) };
  const blobs: Partial<BlobStore> = {
    async remove(name) {
      removed.push(name);
      if (name === "output0") throw new Error("it is removed by the next sweep of old files");
    },
  };
  const stores = { jobs: jobs as JobStore, webhooks: webhooks as WebhookQueue };
  await sweepJobs(stores, blobs as BlobStore, 7);
  expect(counts).toEqual({ overdue: 0, expired: 0, jobs: 0, messages: 0 });
  expect(removed).toHaveLength(180);
});

test.each([
  [7, 30],
  [60, 60],
])("where pictures are kept for %d days, ended jobs and messages are for %d", async (days, kept) => {
  const asked: number[] = [];
  const remove = async (olderMs: number) => {
    asked.push(olderMs / (24 * 60 * 60_000));
    return 0;
  };
  const none = { count: 0, files: [], names: [] };
  const jobs = { endOverdue: async () => none, expire: async () => none, remove } as Partial<JobStore>;
  const stores = { jobs: jobs as JobStore, webhooks: { remove } as Partial<WebhookQueue> as WebhookQueue };
  await sweepJobs(stores, {} as BlobStore, days);
  expect(asked).toEqual([kept, kept]);
});
