import packageFile from "../../package.json";
import { MODEL } from "../support/fleet.ts";

/** A line of a panel over the simulated week. */
export interface Line {
  labels: Readonly<Record<string, string>>;
  values: readonly number[];
}

export interface Question {
  /** Text of the question on the board and in the documents. */
  text: string;
  /** Panels that answer the question, by title. The function checks a panel's lines in `npm run watch:check`. */
  panels: Readonly<Record<string, (lines: readonly Line[]) => boolean>>;
}

/** The slow model of the simulated week. */
export const SLOW_MODEL = "slow-chat";
/** The channel with a refused credential. `SLOW` is the slow channel. */
const REFUSED = `${MODEL}-1`;
const SLOW = `${SLOW_MODEL}-1`;

/** Questions of a person on call, in the order of the board. */
export const QUESTIONS: readonly Question[] = [
  {
    text: "Is it up, and which version runs?",
    panels: {
      "Up and version": (lines) => peak(lines, { version: packageFile.version }) === 1,
      "Time since the start": (lines) => peak(lines) > 10,
    },
  },
  {
    text: "Which requests fail, for which model and organization?",
    panels: { "Failing requests": (lines) => peak(lines, { model: MODEL, organization: "default" }) > 0 },
  },
  {
    text: "Which vendor fails?",
    panels: {
      "Failing calls to vendors": (lines) =>
        peak(lines, { channel: REFUSED }) > 0 && !(peak(lines, { channel: SLOW }) > 0),
    },
  },
  {
    text: "Which vendor or model is slow?",
    panels: {
      "Calls to vendors (p95)": (lines) =>
        peak(lines, { channel: SLOW }) > 0.5 &&
        peak(lines, { channel: SLOW }) > peak(lines, { channel: `${MODEL}-2` }),
    },
  },
  {
    text: "How long does the first content take, by model?",
    panels: { "First content (p95)": (lines) => peak(lines, { model: SLOW_MODEL }) > 0.5 },
  },
  {
    text: "Which target is out of service, since when?",
    panels: {
      // The panel shows a target only during its outage. So the target's first point is the outage's start.
      "Targets out of service": (lines) =>
        lines.some(({ labels }) => labels["channel"] === REFUSED) &&
        !lines.some(({ labels }) => labels["channel"] === SLOW),
    },
  },
  {
    text: "How many requests run now, how near is `max_concurrent`?",
    panels: {
      "Running requests": (lines) => peak(lines) >= 2,
      "Used share of max_concurrent": (lines) => peak(lines, { channel: SLOW }) >= 0.05,
    },
  },
  {
    text: "Which budget runs out when?",
    panels: {
      "Left of budgets": (lines) => peak(lines, { organization: "default", currency: "USD" }) > 0,
      "Time until a budget is spent": (lines) => peak(lines) > 0,
    },
  },
  {
    text: "Who is throttled, how near are limits?",
    panels: {
      "Throttled requests": (lines) => peak(lines, { organization: "default" }) > 0,
      "Used share of tokens a minute": (lines) => peak(lines, { organization: "default" }) > 0,
    },
  },
  {
    text: "Is money safe?",
    panels: {
      "Charges that wait": (lines) => peak(lines) > 0 && last(lines) === 0,
      "Charges in trouble": (lines) => peak(lines) === 0,
    },
  },
  {
    text: "Is the database or Redis slow?",
    panels: {
      "Calls to the database (p95)": (lines) => peak(lines) > 0.5,
      "Calls to Redis (p95)": (lines) => peak(lines) > 0,
    },
  },
  {
    text: "Processor, memory, files and connections of the process?",
    panels: {
      "Processors in use": (lines) => peak(lines) > 0,
      Memory: (lines) => peak(lines) > 10_000_000,
      "Used share of files": (lines) => peak(lines) > 0 && peak(lines) < 1,
    },
  },
  {
    text: "Are webhooks and mails delivered?",
    panels: {
      Webhooks: (lines) => peak(lines, { outcome: "given_up" }) === 0,
      Mails: (lines) => peak(lines, { outcome: "retried" }) > 0,
    },
  },
  {
    text: "What was changed before it broke?",
    panels: {
      Changes: (lines) => lines.some(({ values }) => (values.at(-1) ?? 0) > (values[0] ?? 0)),
      "Configuration in force": (lines) =>
        lines.some(({ values }) => values.includes(0)) && last(lines) === 1,
    },
  },
  {
    text: "What does it cost?",
    panels: { Charges: (lines) => peak(lines, { model: MODEL, currency: "USD" }) > 0 },
  },
];

/** Returns the highest value of the lines with these labels, or NaN if there are none. */
export function peak(lines: readonly Line[], labels: Line["labels"] = {}): number {
  const values = lines
    .filter((line) => Object.entries(labels).every(([name, value]) => line.labels[name] === value))
    .flatMap((line) => line.values)
    .filter((value) => !Number.isNaN(value));
  return values.length === 0 ? Number.NaN : Math.max(...values);
}

/** Returns the highest of the lines' newest values. */
function last(lines: readonly Line[]): number {
  return peak(lines.map(({ labels, values }) => ({ labels, values: values.slice(-1) })));
}
