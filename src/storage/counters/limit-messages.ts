import type {
  LimitCounter,
  LimitRequest,
  LimitVerdict,
  LimitWindow,
} from "../../gateway/admission/limits.ts";

/** What a worker sends to its supervisor about limits, in the order in which it is processed. */
export interface WorkerLimits {
  returns: ReturnedCredit[];
  corrections: LimitCorrection[];
  /** Takes whose slots are released. */
  releases: number[];
  takes: LimitTake[];
}

export interface LimitTake {
  /** Unique in its worker. */
  id: number;
  requests: readonly LimitRequest[];
  /** Whether the worker expects more of the same at once. */
  wantsCredit: boolean;
}

interface LimitCorrection {
  counter: LimitCounter;
  /** Monotonic milliseconds of the supervisor. */
  takenAt: number;
  by: number;
  /** How much of what was counted then can no longer be given back. */
  closed: number;
}

export interface ReturnedCredit {
  counter: LimitCounter;
  /** The take with which it was granted; null when a credit was recalled that is no longer held. */
  takeId: number | null;
  /** What the worker did not admit with it. */
  unused: number;
  /** What requests that still run may give back of the rest. */
  open: number;
}

/** What the supervisor sends to a worker. */
export type SupervisorLimits =
  | { kind: "verdict"; id: number; verdict: TakeVerdict; takenAt: number; credits: LimitCredit[] }
  | { kind: "recall"; counter: LimitCounter };

/** A verdict without its reservation, which the worker makes. */
type TakeVerdict =
  { isAdmitted: true; windows: readonly LimitWindow[] } | Extract<LimitVerdict, { isAdmitted: false }>;

/** A part of a limit, counted as used, from which a worker admits requests by itself for a short time. */
export interface LimitCredit {
  counter: LimitCounter;
  limit: number;
  amount: number;
  /** What is left of the limit besides, for the rate headers. */
  remaining: number;
  resetSeconds: number;
}

/** How long a worker may use a credit. */
export const CREDIT_MS = 500;

/** A worker's connection to its supervisor, as far as limits are concerned. */
export interface SupervisorLink {
  isConnected(): boolean;
  sendLimits(message: WorkerLimits): void;
  onLimits(receive: (message: SupervisorLimits) => void): void;
}

/** A counter as the key of a map. */
export function counterName({ scope, quantity, owner }: LimitCounter): string {
  return `${scope}:${quantity}:${owner}`;
}
