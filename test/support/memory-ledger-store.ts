import type { ChargeHistory, LedgerAdminStore, LedgerPosition } from "../../src/admin/ledger/store-port.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import type { AuditRecord } from "../../src/admin/audit/schema.ts";
import type { AuditStore } from "../../src/admin/audit/store-port.ts";
import type { LedgerDifference } from "../../src/admin/ledger/verification-schema.ts";

export interface MemoryLedgerStore extends LedgerAdminStore {
  /** All entries, in order of writing. */
  entries: LedgerEntry[];
  /** Differences that a verification returns. */
  differences: LedgerDifference[];
}

/** The ledger's administration in memory. A page has two charges, so few entries need several pages. */
export function memoryLedgerStore(): MemoryLedgerStore & { audit: AuditStore } {
  const entries: LedgerEntry[] = [];
  const differences: LedgerDifference[] = [];
  const audited: AuditRecord[] = [];
  const historyOf = (charge: LedgerEntry): ChargeHistory => ({
    charge,
    corrections: entries.filter((entry) => entry.corrects === charge.id),
  });
  const charge = (id: string) => entries.find((entry) => entry.id === id && entry.kind === "charge");
  return {
    entries,
    differences,
    audit: {
      list: async ({ subject, limit }) =>
        audited
          .filter((record) => subject === undefined || record.subject === subject)
          .toReversed()
          .slice(0, limit),
      note: async ({ by, detail, organizationId = null, ...act }) =>
        void audited.push({
          ...act,
          revision: BigInt(audited.length + 1),
          at: 0,
          actor: by.actor,
          source: by.source ?? null,
          organizationId,
          before: null,
          after: asWritten(detail),
        }),
      verify: async () => ({ rows: audited.length, head: null, faults: [], faultCount: 0 }),
    },
    list: async ({ organizationId, keyId, model, requestId, from = 0, to = Infinity, below, limit }) =>
      entries
        .filter((entry) => organizationId === undefined || entry.organizationId === organizationId)
        .filter((entry) => keyId === undefined || entry.keyId === keyId)
        .filter((entry) => model === undefined || entry.model === model)
        .filter((entry) => requestId === undefined || entry.requestId === requestId)
        .filter(({ at }) => at >= from && at < to)
        .filter((entry) => !below || inOrder(below, entry) > 0)
        .toSorted((one, other) => inOrder(other, one))
        .slice(0, limit),
    listPosted: async () => [],
    readableSequence: async () => 0,
    position: async (id) => entries.find((entry) => entry.id === id) ?? null,
    verify: async () => ({
      at: 0,
      entries: entries.length,
      budgets: 0,
      waiting: 0,
      differenceCount: differences.length,
      differences,
    }),
    oldestMonth: async () => null,
    archive: async () => null,
    async history(id) {
      const found = charge(id);
      return found ? historyOf(found) : null;
    },
    async charges({ organizationId, model, from, to, after }) {
      const all = entries
        .filter((entry) => entry.kind === "charge" && entry.organizationId === organizationId)
        .filter(({ at }) => at >= from && at < to)
        .toSorted(inOrder)
        .filter((entry) => !after || inOrder(entry, after) > 0);
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
        const { by, action, subject, detail } = note;
        const revision = BigInt(audited.length + 1);
        const { actor } = by;
        audited.push({
          revision,
          at: 0,
          actor,
          source: null,
          kind: "ledger",
          action,
          subject,
          organizationId: written[0]?.organizationId ?? null,
          before: null,
          after: asWritten(detail),
        });
      }
      return written;
    },
  };
}

/** Compares by time and then by id. */
function inOrder(one: LedgerPosition, other: LedgerPosition): number {
  return one.at - other.at || (one.id === other.id ? 0 : one.id < other.id ? -1 : 1);
}

/** Returns the detail as a database does, with amounts as decimal strings. */
function asWritten(detail: object): unknown {
  return JSON.parse(
    JSON.stringify(detail, (_key, part: unknown) => (typeof part === "bigint" ? `${part}` : part)),
  );
}
