import { join } from "node:path";
import type { BlobStore, Links } from "../../gateway/delivery/stored-blobs.ts";
import { systemClock, type Clock } from "../../lib/clock.ts";
import type { S3Address } from "../../lib/s3-address.ts";
import { sweepSpool } from "../../lib/spool.ts";
import { withDeadline } from "../../lib/waiting.ts";
import type { StorageReport } from "../report.ts";
import { diskCheck, openDiskStore } from "./disk.ts";
import { createLinks, newBlobName } from "./links.ts";
import type { NamedStore } from "./named-store.ts";
import { openPendingStore } from "./pending.ts";
import { openS3Store } from "./s3.ts";

/**
 * Opens the store of pictures, on disk or in S3-compatible storage, and removes half-written files of ended processes.
 * Throws a `RangeError` when a link secret is missing or too short.
 */
export async function openBlobs(settings: BlobSettings): Promise<Blobs> {
  const { clock = systemClock, linkHours = 24, retentionDays = 7 } = settings;
  const { store, pending } = await openStore(settings);
  const links = createLinks({
    secrets: settings.linkSecrets,
    lifetimeSeconds: Math.round(linkHours * 3600),
    longestSeconds: (retentionDays * DAY_MS) / 1000,
    hoursInUse: () => (pending ? new Set([null, ...(settings.linkHoursInUse?.() ?? [])]) : []),
    clock,
  });
  const hasDisk = diskCheck(
    join(settings.directory, "blobs", "temporary"),
    clock,
    settings.onProblem ?? (() => {}),
  );
  const closing = new AbortController();
  let running: Promise<SweepReport> | null = null;

  return {
    store: {
      async put(image, format) {
        const name = newBlobName(format);
        await store.write(name, image);
        return { name };
      },
      get: (name) => store.get(name),
      remove: (name) => store.remove(name),
      isAvailable: () => pending?.isAvailable() ?? hasDisk(),
    },
    links,
    isRemoteUp: () => pending?.isRemoteUp() ?? true,
    pending: () => pending?.pending() ?? 0,
    sweep() {
      const storedBefore = clock.now() - retentionDays * DAY_MS;
      running ??= sweepBlobs(store, storedBefore, closing.signal).finally(() => {
        running = null;
      });
      return running;
    },
    async close() {
      closing.abort();
      const ended = Promise.all([running, pending?.stop()]);
      await withDeadline(MAX_CLOSE_MS, ended, () => new Error("too late")).catch(() => {});
    },
  };
}

/**
 * Yields every stored blob with its size in bytes, including blobs that wait for the object storage. A blob that was
 * just uploaded may be yielded twice.
 */
export async function* listBlobs({
  directory,
  s3,
}: Pick<BlobSettings, "directory" | "s3">): AsyncGenerator<{ name: string; size: number }> {
  const local = (name: string) => openDiskStore(join(directory, name), join(directory, name, "temporary"));
  const stores = s3 === undefined ? [local("blobs")] : [openS3Store(s3), local("blobs-pending")];
  for (const store of stores)
    for await (const page of store.pages()) for (const { name, size } of page) yield { name, size };
}

interface BlobSettings {
  /** The data directory, for blobs that are not in object storage. */
  directory: string;
  s3?: S3Address;
  /** Hours for which a link is valid unless its organization has set others; 24 by default. */
  linkHours?: number;
  /** Returns the lifetimes of links that organizations have set, in hours; null stands for the default. */
  linkHoursInUse?(): Iterable<number | null>;
  /** Days for which a blob is kept; 7 by default. */
  retentionDays?: number;
  /**
   * Returns the link secrets: the first one signs links, and all of them verify links. Each secret has at least 32
   * characters.
   */
  linkSecrets(): readonly string[];
  clock?: Clock;
  onProblem?: StorageReport;
}

export interface Blobs {
  store: BlobStore;
  links: Links;
  /** False from a failed read or write in the object storage until a call succeeds. */
  isRemoteUp(): boolean;
  /** Returns the number of pictures on the local disk that wait for the object storage. */
  pending(): number;
  /** Removes blobs older than the retention period. The caller decides how often; only one sweep runs at a time. */
  sweep(): Promise<SweepReport>;
  /** Ends a running sweep early and waits at most a second for calls that are still running. */
  close(): Promise<void>;
}

const MAX_CLOSE_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

async function openStore({ directory, s3, onProblem = () => {} }: BlobSettings) {
  if (s3 === undefined) return { store: await openLocalStore(join(directory, "blobs")), pending: null };
  const local = await openLocalStore(join(directory, "blobs-pending"));
  const pending = await openPendingStore({ remote: openS3Store(s3), local, report: onProblem });
  return { store: pending, pending };
}

async function openLocalStore(directory: string): Promise<NamedStore<Blob>> {
  const temporary = join(directory, "temporary");
  await sweepSpool(temporary);
  return openDiskStore(directory, temporary);
}

/**
 * Removes blobs older than the retention period, page by page and several at the same time. A blob that cannot be
 * removed is counted and left for the next sweep. When listing fails, the sweep ends with the error.
 */
async function sweepBlobs(
  inventory: BlobInventory,
  storedBefore: number,
  signal: AbortSignal,
): Promise<SweepReport> {
  const report: SweepReport = { removed: 0, failed: 0 };
  for await (const page of inventory.pages()) {
    const old = page.filter(({ storedAt }) => storedAt < storedBefore);
    for (let from = 0; from < old.length; from += AT_ONCE) {
      if (signal.aborted) return report;
      const removals = old.slice(from, from + AT_ONCE).map(({ name }) => inventory.remove(name));
      for (const { status } of await Promise.allSettled(removals))
        report[status === "fulfilled" ? "removed" : "failed"] += 1;
    }
    if (signal.aborted) return report;
  }
  return report;
}

/** The part of a store that a sweep uses. */
type BlobInventory = Pick<NamedStore, "pages" | "remove">;

interface SweepReport {
  removed: number;
  failed: number;
}

const AT_ONCE = 8;
