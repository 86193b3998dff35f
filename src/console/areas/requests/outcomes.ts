import type { StatusLevel } from "../../ui/text/status.tsx";

/** The outcomes of vendor calls, each with its level. */
export const OUTCOMES = {
  answered: "good",
  caller_gone: "off",
  stopped: "off",
  unreachable: "bad",
  timeout: "bad",
  overloaded: "bad",
  limited: "warn",
  account: "bad",
  broken: "bad",
  refused: "warn",
  empty: "warn",
  too_long: "warn",
  too_large: "warn",
  rejected: "warn",
} as const satisfies Record<string, StatusLevel>;

type Outcome = keyof typeof OUTCOMES;

/** Returns the outcome with a name; null for an outcome that this version does not know. */
export function outcomeOf(name: string): Outcome | null {
  return Object.hasOwn(OUTCOMES, name) ? (name as Outcome) : null;
}

export function statusLevel(status: number): StatusLevel {
  if (status < 400) return "good";
  return status < 500 ? "warn" : "bad";
}
