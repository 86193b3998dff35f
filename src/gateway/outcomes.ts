/**
 * Stores the outcomes of requests with an idempotency key for 24 hours. Its promises reject with a `DependencyError`.
 */
export interface OutcomeStore {
  /** Claims the key if no other request has claimed it. A claim ends a minute after its last renewal. */
  claim(claim: Claim, fingerprint: string): Promise<ClaimResult>;
  renew(claim: Claim): Promise<void>;
  /**
   * True when the body of an outcome may be kept; its bytes are then counted. An organization can add only a limited
   * number of bytes until old outcomes are removed again.
   */
  admits(organizationId: string, bytes: number): boolean;
  /** Stores the outcome if the request still has the claim. */
  complete(claim: Claim, outcome: Outcome): Promise<void>;
  /** Ends the claim, so that the next request with the key runs. */
  release(claim: Claim): Promise<void>;
}

export interface Claim {
  /** Id of the gateway key. */
  keyId: string;
  /** Hash of the idempotency key. */
  key: string;
  /** New for every request. */
  id: string;
  /** Organization whose outcomes share one size limit; null for administrative operations of members. */
  organizationId: string | null;
}

export type ClaimResult =
  | { kind: "claimed" }
  /** Another request has claimed the key and is running. */
  | { kind: "running" }
  /** The key was used for a request with other content. */
  | { kind: "other" }
  | { kind: "stored"; outcome: Outcome };

export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** Null when the body is stored as a blob or not kept. */
  body: Uint8Array<ArrayBuffer> | null;
  /** Name of the stored blob; null when there is none. */
  blob: string | null;
  /** Length of the body; 0 when the body is not kept. */
  bytes: number;
}
