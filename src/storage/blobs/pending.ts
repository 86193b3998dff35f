import { every, type BackgroundWork } from "../../lib/waiting.ts";
import { outageReport, type StorageReport } from "../report.ts";
import type { NamedStore } from "./named-store.ts";

/**
 * Object storage together with a folder on the local disk. When the object storage does not accept a picture, the
 * folder stores and serves the picture until the upload succeeds. So a picture that a vendor was paid for survives an
 * outage of the object storage.
 */
interface PendingStore extends NamedStore, BackgroundWork {
  /** False while the object storage is unavailable and `maxPending` pictures or more wait for it. */
  isAvailable(): boolean;
  /** False from a failed read or write in the object storage until a call succeeds. */
  isRemoteUp(): boolean;
  /** Returns the number of pictures that wait for the object storage. */
  pending(): number;
}

interface PendingOptions {
  remote: NamedStore;
  local: NamedStore<Blob>;
  report: StorageReport;
  /** Milliseconds between attempts to upload waiting pictures. */
  intervalMs?: number;
  maxPending?: number;
}

const INTERVAL_MS = 1000;
const MAX_PENDING = 10_000;
/** Time for which an uploaded picture stays on the local disk, for readers that have just opened it. */
const REMOVE_AFTER_MS = 60_000;
const STORAGE = {
  lost: "the object storage is away: pictures are kept on the local disk",
  available: "the object storage is available again",
};

/** Opens the store. Pictures that earlier processes left on the local disk are uploaded in the background. */
export async function openPendingStore(options: PendingOptions): Promise<PendingStore> {
  const { remote, local, report, intervalMs = INTERVAL_MS, maxPending = MAX_PENDING } = options;
  const pending = new Set<string>();
  /** Monotonic milliseconds from which each uploaded picture may be removed from the local disk, oldest first. */
  const shipped = new Map<string, number>();
  for await (const page of local.pages()) for (const { name } of page) pending.add(name);
  const outage = outageReport(STORAGE, report);
  const isAvailable = () => !outage.isLost || pending.size < maxPending;

  const tryRemote = <T>(call: () => Promise<T>) => noting(outage, call);
  async function ship(): Promise<void> {
    // One page is listed first, to find out if the storage is back, before whole pictures are sent.
    if (outage.isLost) await tryRemote(() => remote.pages()[Symbol.asyncIterator]().next());
    for (const name of pending) {
      const image = await local.get(name);
      if (image) await tryRemote(() => remote.write(name, image));
      // The picture was removed during its upload.
      if (!pending.delete(name)) await tryRemote(() => remote.remove(name));
      shipped.set(name, performance.now() + REMOVE_AFTER_MS);
    }
    for (const [name, removeAt] of shipped) {
      if (removeAt > performance.now()) return;
      await local.remove(name);
      shipped.delete(name);
    }
  }

  const shipping = every(intervalMs, ship, (error) => {
    if (!outage.isLost) report("pictures could not be shipped to the object storage", error);
  });
  return {
    isAvailable,
    isRemoteUp: () => !outage.isLost,
    pending: () => pending.size,
    async write(name, image) {
      if (!outage.isLost) {
        try {
          return await tryRemote(() => remote.write(name, image));
        } catch (error) {
          if (!isAvailable()) throw error;
        }
      }
      await local.write(name, image);
      pending.add(name);
    },
    // The local disk is always read first: another process on this machine may have stored the picture there.
    get: async (name) => (await local.get(name)) ?? (await tryRemote(() => remote.get(name))),
    pages: () => remote.pages(),
    async remove(name) {
      pending.delete(name);
      shipped.delete(name);
      await local.remove(name);
      await remote.remove(name);
    },
    stop: () => shipping.stop(),
  };
}

/** Makes a call to the object storage and records whether it succeeded. */
async function noting<T>(outage: ReturnType<typeof outageReport>, call: () => Promise<T>): Promise<T> {
  try {
    const result = await call();
    outage.available();
    return result;
  } catch (error) {
    outage.lost(error);
    throw error;
  }
}
