import { join } from "node:path";
import type { BlobStore, Links } from "../../gateway/ports.ts";
import { systemClock, type Clock } from "../../lib/clock.ts";
import type { S3Address } from "../../lib/s3-address.ts";
import { sweepSpool } from "../../lib/spool.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { openDiskStore } from "./disk.ts";
import { createLinks } from "./links.ts";
import { sweepBlobs, type SweepReport } from "./retention.ts";
import { openS3Store } from "./s3.ts";

/**
 * Opens the place where delivered images are kept, on disk or in S3-compatible storage, and clears what dead
 * processes left half written. Throws a `RangeError` on settings that cannot be meant.
 */
export async function openBlobs(settings: BlobSettings): Promise<Blobs> {
  const { clock = systemClock, linkHours = 24, retentionDays = 7 } = settings;
  const store = await openStore(settings);
  const links = createLinks({
    secrets: settings.linkSecrets,
    lifetimeSeconds: Math.round(linkHours * 3600),
    clock,
  });
  const closing = new AbortController();
  let running: Promise<SweepReport> | null = null;

  return {
    store,
    links,
    sweep() {
      const storedBefore = clock.now() - retentionDays * DAY_MS;
      running ??= sweepBlobs(store, storedBefore, closing.signal).finally(() => {
        running = null;
      });
      return running;
    },
    async close() {
      closing.abort();
      if (running) await withDeadline(MAX_CLOSE_MS, running, () => new Error("too late")).catch(() => {});
    },
  };
}

export interface BlobSettings {
  /** The data directory, for the blobs themselves when there is no object storage. */
  directory: string;
  s3?: S3Address;
  /** How long a link is valid; 24 by default. */
  linkHours?: number;
  /** How long a blob is kept; 7 by default. */
  retentionDays?: number;
  /** The first signs links, all check them. At least 32 characters each. */
  linkSecrets: readonly string[];
  clock?: Clock;
}

export interface Blobs {
  store: BlobStore;
  links: Links;
  /** Removes what is older than the retention period; the caller decides how often. One runs at a time. */
  sweep(): Promise<SweepReport>;
  /** Ends a running sweep early and waits for it, for a second at most. */
  close(): Promise<void>;
}

const MAX_CLOSE_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

async function openStore({ directory, s3 }: BlobSettings) {
  if (s3 === undefined) {
    const blobs = join(directory, "blobs");
    const temporary = join(blobs, "temporary");
    await sweepSpool(temporary);
    return openDiskStore(blobs, temporary);
  }
  return openS3Store(s3);
}
