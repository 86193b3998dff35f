import type { Report } from "../report.ts";

/** What is known of damage of the database. It is logged once. */
export interface DamageReport {
  /** Notes that a statement failed in a way that tells of damage. */
  failed(reason: string): void;
  /** Notes what a check has found; null is nothing. */
  checked(reason: string | null): void;
  /** Why the database is damaged, null when it is not known to be. */
  current(): string | null;
}

/** A disk in trouble may recover; a page with wrong content stays so, wherever the check looks. */
const PASSING = /SQLITE_IOERR/;

export function damageReport(report: Report): DamageReport {
  let failure: string | null = null;
  let found: string | null = null;
  let isReported = false;
  const current = () => found ?? failure;
  const logChange = () => {
    const reason = current();
    if (reason !== null && !isReported)
      report(
        "the database is damaged: stop the gateway and run restore --force with a backup",
        reason,
        "error",
      );
    if (reason === null && isReported) report("the database can be read again", null, "info");
    isReported = reason !== null;
  };
  return {
    failed(reason) {
      failure ??= reason;
      logChange();
    },
    checked(reason) {
      found = reason;
      if (reason === null && failure !== null && PASSING.test(failure)) failure = null;
      logChange();
    },
    current,
  };
}
