import type { Degradation } from "./admin/context.ts";
import type { GaugeSources } from "./gauges.ts";
import { every, type BackgroundWork } from "./lib/waiting.ts";

const LOOK_MS = 2_000;

const DAMAGED = "The database is damaged: stop the gateway and restore a backup.";
const AWAY = "The database is away: charges wait in the journal.";

type Sources = Pick<GaugeSources, "storage" | "blobs" | "counters" | "overload" | "undeclaredProxy">;

/** Which parts of this process do not work as they should, and since when. */
export interface Degradations extends BackgroundWork {
  now(): Degradation[];
}

/** Looks at every part, at first at once, so that it is known since when each is as it is. */
export function watchDegradations(sources: Sources, clock: () => number): Degradations {
  const since = new Map<string, number>();
  const look = (): Degradation[] => {
    const found = degraded(sources);
    const parts = new Set(found.map(({ part }) => part));
    for (const part of since.keys()) if (!parts.has(part)) since.delete(part);
    for (const part of parts) if (!since.has(part)) since.set(part, clock());
    return found.map(({ part, message }) => ({ part, message, since: since.get(part) ?? null }));
  };
  look();
  return { now: look, ...every(LOOK_MS, look, () => {}) };
}

function degraded({
  storage,
  blobs,
  counters,
  overload,
  undeclaredProxy,
}: Sources): { part: string; message: string }[] {
  const { differences } = storage.verification();
  const isDamaged = storage.damage() !== null;
  const all: [part: string, isDegraded: boolean, message: string][] = [
    ["database", isDamaged || !storage.snapshot.isDatabaseUp(), isDamaged ? DAMAGED : AWAY],
    ["journal", !storage.journal.isWritable(), "The disk takes no charges: requests are refused."],
    ["object storage", !blobs.isRemoteUp(), "The object storage is away: pictures wait on the local disk."],
    ["limits", counters.isDegraded(), "Redis is away: each process counts limits by itself."],
    ["overload", overload.step > 0, "This server refuses requests because it lacks memory, disk or time."],
    ["refused entries", storage.refused() > 0, `${storage.refused()} charges were refused by the database.`],
    ["quarantine", storage.quarantined() > 0, `${storage.quarantined()} journal files were not understood.`],
    ["proxy", undeclaredProxy.message !== null, undeclaredProxy.message ?? ""],
    ["ledger", differences > 0, `The last verification of the ledger found ${differences} differences.`],
  ];
  return all.filter(([, isDegraded]) => isDegraded).map(([part, , message]) => ({ part, message }));
}
