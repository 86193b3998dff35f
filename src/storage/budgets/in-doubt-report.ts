import type { Report } from "../report.ts";
import type { LeaseStore } from "./leases.ts";

/** Reports once of each process whose money stays held because it vanished. */
export function inDoubtReport(leases: LeaseStore, onProblem: Report): () => Promise<void> {
  let reported = new Set<string>();
  return async () => {
    const inDoubt = new Set(await leases.processesInDoubt());
    for (const processId of inDoubt.difference(reported))
      onProblem(`process ${processId} is gone without its journal posted; what it held stays held`, null);
    reported = inDoubt;
  };
}
