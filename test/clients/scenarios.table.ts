import type { Behaviour } from "../upstreams/behaviour.ts";

/** What happens to a program, and how it must end. */
export interface Scenario {
  name: string;
  /** The calls that the model makes in each turn, before it says that it is done. */
  turns: readonly (readonly Step[])[];
  /** Behaviours of the vendor for the first requests; the others are answered. */
  faults?: readonly Behaviour[];
  /** The vendor does this each time. */
  always?: Behaviour;
  /** The key's budget is spent. */
  isPoor?: true;
  /** The gateway's words for the fault, which a program must show where it does not do the task. */
  message?: RegExp;
  /** Nothing can change: a program must ask once and show the message. Else it must do the task. */
  isFinal?: true;
  /** Runs with one vendor instead of each: the vendor's protocol makes no difference to it. */
  isOnce: boolean;
}

export type Step = { save: string } | { look: string };

export const PICTURE = "picture.png";
const TASK: Scenario["turns"] = [[{ save: "one.txt" }], [{ save: "two.txt" }]];

export const SCENARIOS: readonly Scenario[] = [
  { name: "task", turns: TASK, isOnce: false },
  { name: "parallel", turns: [[{ save: "one.txt" }, { save: "two.txt" }]], isOnce: false },
  { name: "picture", turns: [[{ look: PICTURE }], [{ save: "one.txt" }]], isOnce: false },
  {
    name: "429",
    turns: TASK,
    faults: [{}, { fault: "rate-limited", retryAfter: "1" }],
    message: /too many requests/,
    isOnce: true,
  },
  {
    name: "529",
    turns: TASK,
    faults: [{}, { fault: "error-status", status: 529, retryAfter: "1" }],
    message: /overloaded at the moment/,
    isOnce: true,
  },
  {
    name: "cut",
    turns: TASK,
    faults: [{}, { fault: "reset-midway", after: 3 }],
    message: /no usable answer/,
    isOnce: true,
  },
  { name: "silence", turns: TASK, faults: [{ delayMs: 12_000 }], isOnce: true },
  {
    name: "dead account",
    turns: TASK,
    always: { fault: "unauthorized" },
    message: /may not use this model/,
    isFinal: true,
    isOnce: true,
  },
  {
    name: "spent budget",
    turns: TASK,
    isPoor: true,
    // The second are Codex's own words.
    message: /budget is exhausted|Quota exceeded/,
    isFinal: true,
    isOnce: true,
  },
];
