import type {
  LimitCounter,
  LimitRequest,
  LimitVerdict,
  LimitWindow,
} from "../../gateway/admission/limits.ts";

/** A message of a worker to its supervisor about limits. The parts are processed in the order of these fields. */
export interface WorkerLimits {
  returns: ReturnedCredit[];
  corrections: LimitCorrection[];
  /** Ids of the takes whose slots are released. */
  releases: number[];
  takes: LimitTake[];
}

export interface LimitTake {
  /** Id of the take, unique within its worker. */
  id: number;
  requests: readonly LimitRequest[];
  /** True when the worker expects more requests under the same limits soon. */
  wantsCredit: boolean;
}

interface LimitCorrection {
  counter: LimitCounter;
  /** Time at which the amount was counted, in monotonic milliseconds of the supervisor. */
  takenAt: number;
  by: number;
  /** The part of the amount counted at `takenAt` that can no longer be given back. */
  closed: number;
}

export interface ReturnedCredit {
  counter: LimitCounter;
  /** Id of the take with which the credit was granted; null when the worker no longer has the recalled credit. */
  takeId: number | null;
  unused: number;
  /** The part of the used amount that running requests may still give back. */
  open: number;
}

/** A message of the supervisor to a worker. */
export type SupervisorLimits =
  | { kind: "verdict"; id: number; verdict: TakeVerdict; takenAt: number; credits: LimitCredit[] }
  | { kind: "recall"; counter: LimitCounter };

/** A verdict without its reservation. The worker makes the reservation itself. */
type TakeVerdict =
  { isAdmitted: true; windows: readonly LimitWindow[] } | Extract<LimitVerdict, { isAdmitted: false }>;

/** A part of a limit that a worker may use for a short time without asking. The part counts as used. */
export interface LimitCredit {
  counter: LimitCounter;
  limit: number;
  amount: number;
  /** The unused amount of the limit apart from the credit, for the rate-limit headers. */
  remaining: number;
  resetSeconds: number;
}

/** Time for which a worker may use a credit. */
export const CREDIT_MS = 500;

/** The part of a worker's connection to its supervisor that is about limits. */
export interface SupervisorLink {
  isConnected(): boolean;
  sendLimits(message: WorkerLimits): void;
  onLimits(receive: (message: SupervisorLimits) => void): void;
}

/** Returns a text that identifies a counter, as the key of a map. */
export function counterName({ scope, quantity, owner }: LimitCounter): string {
  return `${scope}:${quantity}:${owner}`;
}
