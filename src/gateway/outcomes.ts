/** Outcomes of requests with an idempotency key, for 24 hours. Methods throw a `DependencyError`. */
export interface OutcomeStore {
  /** Claims the key for a request, unless another one has it. The claim lasts a minute from its last renewal. */
  claim(claim: Claim, fingerprint: string): Promise<ClaimResult>;
  renew(claim: Claim): Promise<void>;
  /**
   * Whether the body of an outcome may be kept; it counts from then on. Between two sweeps an organization adds a
   * bounded number of bytes.
   */
  admits(organizationId: string, bytes: number): boolean;
  /** Stores the outcome of a claim that is still held. */
  complete(claim: Claim, outcome: Outcome): Promise<void>;
  /** Gives the key back, so that the next request runs. */
  release(claim: Claim): Promise<void>;
}

export interface Claim {
  /** Id of the gateway key. */
  keyId: string;
  /** Hash of the idempotency key. */
  key: string;
  /** New for every request. */
  id: string;
  /** Whose outcomes are bounded together; null of members' acts. */
  organizationId: string | null;
}

export type ClaimResult =
  | { kind: "claimed" }
  /** Another request has the key, and runs. */
  | { kind: "running" }
  /** The key belongs to a request with other content. */
  | { kind: "other" }
  | { kind: "stored"; outcome: Outcome };

export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** Null where it is stored as a blob, or not kept. */
  body: Uint8Array<ArrayBuffer> | null;
  /** Name of the stored blob. */
  blob: string | null;
  /** Of the body; 0 where it is not kept. */
  bytes: number;
}
