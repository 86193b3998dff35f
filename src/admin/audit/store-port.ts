import type { Actor } from "../actor.ts";
import type { AuditAction, AuditRecord, ChangeKind } from "./schema.ts";
import type { OrganizationFilter } from "../list-page.ts";

/** Filter of changes; an absent field matches every change. */
interface AuditFilter extends Pick<OrganizationFilter, "organizationIds"> {
  subject?: string;
  kind?: ChangeKind;
  action?: AuditAction;
  actor?: string;
  /** Unix milliseconds, inclusive. */
  from?: number;
  /** Unix milliseconds, exclusive. */
  to?: number;
}

/** An act that changes nothing. */
export interface AuditNote {
  by: Actor;
  kind: ChangeKind;
  action: AuditAction;
  subject: string;
  /** Organization of the row; absent or null for the installation. */
  organizationId?: string | null;
  detail: object;
}

export interface AuditStore {
  /** Writes an audit row about an action that changes nothing. */
  note(act: AuditNote): Promise<void>;
  /** Newest first. */
  list(page: AuditFilter & { before?: bigint; limit: number }): Promise<AuditRecord[]>;
  /**
   * Checks the chain of hashes in which each row depends on all rows before it, and that `knownHead`, a hash that was
   * kept elsewhere, is in it.
   */
  verify(knownHead?: string): Promise<AuditVerification>;
}

export interface AuditVerification {
  rows: number;
  /** Hash of the last row; null where no row is chained yet. */
  head: string | null;
  /** At most 100. */
  faults: AuditFault[];
  faultCount: number;
}

export interface AuditFault {
  /** The row; null for the end of the chain. */
  revision: bigint | null;
  fault: string;
}
