import type { AuditRecord, AuditStore, ChargeHistory, LedgerAdminStore } from "../../src/admin/ports.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";

export interface MemoryLedgerStore extends LedgerAdminStore {
  /** Every entry in the order it was written. */
  entries: LedgerEntry[];
}

/** The ledger's administration in memory. Pages hold two charges, so that few entries make several pages. */
export function memoryLedgerStore(): MemoryLedgerStore & { audit: AuditStore } {
  const entries: LedgerEntry[] = [];
  const audited: AuditRecord[] = [];
  const historyOf = (charge: LedgerEntry): ChargeHistory => ({
    charge,
    corrections: entries.filter((entry) => entry.corrects === charge.id),
  });
  const charge = (id: string) => entries.find((entry) => entry.id === id && entry.kind === "charge");
  return {
    entries,
    audit: {
      list: async ({ subject, limit }) =>
        audited
          .filter((record) => subject === undefined || record.subject === subject)
          .toReversed()
          .slice(0, limit),
    },
    list: async ({ organizationId, from = 0, to = Infinity, limit }) =>
      entries
        .filter((entry) => organizationId === undefined || entry.organizationId === organizationId)
        .filter(({ at }) => at >= from && at < to)
        .toSorted((one, other) => other.at - one.at)
        .slice(0, limit),
    async history(id) {
      const found = charge(id);
      return found ? historyOf(found) : null;
    },
    async charges({ organizationId, model, from, to, after }) {
      const all = entries
        .filter((entry) => entry.kind === "charge" && entry.organizationId === organizationId)
        .filter(({ at }) => at >= from && at < to)
        .toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1))
        .filter(({ at, id }) => !after || at > after.at || (at === after.at && id > after.id));
      const page = all.slice(0, 2);
      const last = page.at(-1);
      return {
        histories: page.filter((entry) => entry.model === model).map(historyOf),
        next: last && page.length === 2 ? { at: last.at, id: last.id } : null,
      };
    },
    async correct(ids, decide, note) {
      const histories = ids.flatMap((id) => charge(id) ?? []).map(historyOf);
      const written = histories.flatMap((history) => decide(history) ?? []);
      entries.push(...written);
      if (note && written.length > 0) {
        const { by, subject, detail } = note;
        const revision = BigInt(audited.length + 1);
        const { actor } = by;
        audited.push({
          revision,
          at: 0,
          actor,
          kind: "ledger",
          action: "create",
          subject,
          before: null,
          after: asWritten(detail),
        });
      }
      return written;
    },
  };
}

/** As a database gives it back: money as decimal strings. */
function asWritten(detail: object): unknown {
  return JSON.parse(
    JSON.stringify(detail, (_key, part: unknown) => (typeof part === "bigint" ? `${part}` : part)),
  );
}
