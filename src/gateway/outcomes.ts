/** Outcomes of requests with an idempotency key, for 24 hours. Methods throw a `DependencyError`. */
export interface OutcomeStore {
  /** Claims the key for a request, unless another request holds it. The claim lasts a minute from its last renewal. */
  claim(claim: Claim, fingerprint: string): Promise<ClaimResult>;
  renew(claim: Claim): Promise<void>;
  /**
   * True when the body of an outcome may be kept. If so, its bytes are counted at once; an organization can add only a
   * limited number of bytes between two sweeps.
   */
  admits(organizationId: string, bytes: number): boolean;
  /** Stores the outcome if the claim is still held. */
  complete(claim: Claim, outcome: Outcome): Promise<void>;
  /** Gives the key back, so that the next request with it runs. */
  release(claim: Claim): Promise<void>;
}

export interface Claim {
  /** Id of the gateway key. */
  keyId: string;
  /** Hash of the idempotency key. */
  key: string;
  /** New for every request. */
  id: string;
  /** Organization whose outcomes are bounded together; null for administrative operations of members. */
  organizationId: string | null;
}

export type ClaimResult =
  | { kind: "claimed" }
  /** Another request holds the key and still runs. */
  | { kind: "running" }
  /** The key belongs to a request with other content. */
  | { kind: "other" }
  | { kind: "stored"; outcome: Outcome };

export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** Null when the body is stored as a blob or not kept. */
  body: Uint8Array<ArrayBuffer> | null;
  /** Name of the stored blob. */
  blob: string | null;
  /** Length of the body; 0 when it is not kept. */
  bytes: number;
}
