import type { Behaviour } from "../upstreams/behaviour.ts";

/** The behaviour that a program meets, and the end that it must reach. */
export interface Scenario {
  name: string;
  /** The model's tool calls in each turn. After the last turn, the model reports that the task is done. */
  turns: readonly (readonly Step[])[];
  /** The vendor's behaviours for the first requests, in order. Later requests get a normal response. */
  faults?: readonly Behaviour[];
  /** The vendor's behaviour for every request. */
  always?: Behaviour;
  /** True when the key's budget is spent. */
  isPoor?: true;
  /** The gateway's message for the fault. A program must complete the task or show this message. */
  message?: RegExp;
  /** True when a retry cannot help, so that the program must call once and show the message. */
  isFinal?: true;
  /** True when one vendor is enough, because the vendor's protocol makes no difference. */
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
    name: "late refusal",
    turns: TASK,
    // The vendor refuses after the gateway has begun a stream's response.
    always: { delayMs: 12_000, fault: "unauthorized" },
    message: /may not use this model/,
    isFinal: true,
    isOnce: true,
  },
  {
    name: "spent budget",
    turns: TASK,
    isPoor: true,
    // The second alternative is Codex's own message.
    message: /budget is exhausted|Quota exceeded/,
    isFinal: true,
    isOnce: true,
  },
];
