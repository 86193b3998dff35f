import type {
  LimitCounter,
  LimitRequest,
  LimitVerdict,
  LimitWindow,
} from "../../gateway/admission/limits.ts";

/** Messages of a worker to its supervisor about limits, processed in their order. */
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
  /** True when the worker expects more such requests at once. */
  wantsCredit: boolean;
}

interface LimitCorrection {
  counter: LimitCounter;
  /** Monotonic milliseconds of the supervisor. */
  takenAt: number;
  by: number;
  /** The part of the amount counted then that can no longer be given back. */
  closed: number;
}

export interface ReturnedCredit {
  counter: LimitCounter;
  /** The take with which it was granted; null when a credit was recalled that is no longer held. */
  takeId: number | null;
  /** The unused part of the credit. */
  unused: number;
  /** The part of the rest that running requests may still give back. */
  open: number;
}

/** Messages of the supervisor to a worker. */
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
  /** The rest of the limit, for the rate headers. */
  remaining: number;
  resetSeconds: number;
}

/** Time for which a worker may use a credit. */
export const CREDIT_MS = 500;

/** The part of a worker's connection to its supervisor that serves limits. */
export interface SupervisorLink {
  isConnected(): boolean;
  sendLimits(message: WorkerLimits): void;
  onLimits(receive: (message: SupervisorLimits) => void): void;
}

/** A counter as the key of a map. */
export function counterName({ scope, quantity, owner }: LimitCounter): string {
  return `${scope}:${quantity}:${owner}`;
}
