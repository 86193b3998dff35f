import type { MessageCode } from "../../domain/operator-message.ts";
import type { Actor } from "../actor.ts";
import type { AuditAction, AuditRecord, ChangeKind } from "./schema.ts";
import type { OrganizationFilter } from "../list-page.ts";

/** Filter of changes; an absent field matches every change. */
interface AuditFilter extends Pick<OrganizationFilter, "organizationIds"> {
  subject?: string;
  kind?: ChangeKind;
  action?: AuditAction;
  actor?: string;
  /** Earliest time in Unix milliseconds, inclusive. */
  from?: number;
  /** Latest time in Unix milliseconds, exclusive. */
  to?: number;
}

/** An action that changes no row but is audited. */
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
  /** Returns a page of rows, newest first. */
  list(page: AuditFilter & { before?: bigint; limit: number }): Promise<AuditRecord[]>;
  /**
   * Checks the chain of hashes, in which each row depends on all rows before it. Also checks that the chain contains
   * `knownHead`, a hash that was stored outside of the database.
   */
  verify(knownHead?: string): Promise<AuditVerification>;
}

export interface AuditVerification {
  rows: number;
  /** Hash of the last row; null when the chain has no rows yet. */
  head: string | null;
  /** The faults found, at most 100. */
  faults: AuditFault[];
  faultCount: number;
}

export interface AuditFault {
  /** The faulty row; null for a wrong head, and for a known head that is missing in the chain. */
  revision: bigint | null;
  fault: string;
  /** Code of the sentence in `fault`. */
  code: MessageCode;
}
