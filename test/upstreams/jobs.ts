import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson } from "./delivery.ts";
import type { Plan } from "./plan.ts";

/** Jobs of a simulated vendor that answers later. */
export interface SimulatedJobs<Output> {
  all: readonly SimulatedJob<Output>[];
  /** Takes a job in, whose end its plan tells. */
  open(plan: Plan, output: Output): SimulatedJob<Output>;
  find(id: string | null | undefined): SimulatedJob<Output> | undefined;
}

export interface SimulatedJob<Output> {
  id: string;
  output: Output;
  fate: string | undefined;
  isCancelled: boolean;
  /** True when it has ended; each look that finds it running brings its end nearer. */
  look(): boolean;
}

export function createJobs<Output>(): SimulatedJobs<Output> {
  const all: SimulatedJob<Output>[] = [];
  return {
    all,
    open({ fate, looks = 1 }, output) {
      let left = looks;
      const look = () => left-- <= 0;
      const job = {
        id: `job-${all.length + 1}-${crypto.randomUUID()}`,
        output,
        fate,
        isCancelled: false,
        look,
      };
      all.push(job);
      return job;
    },
    find: (id) => all.find((job) => job.id === id),
  };
}

/** A row of a vendor's table of errors. */
export interface ErrorRow {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** The plan that lets a row be answered. */
export function row(text: string, more: Plan = {}): Plan {
  return { fault: "error-status", text, ...more };
}

/** Answers the row a plan names; false when it names none. */
export async function answerRow(
  { fault, text = "", retryAfter }: Plan,
  rows: Readonly<Record<string, ErrorRow>>,
  answer: Answer,
): Promise<boolean> {
  if (fault !== "error-status") return false;
  const found = rows[text];
  if (!found) throw new Error(`no row is called ${text}`);
  const hint: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  await sendJson(answer, found.status, found.body, {}, { ...found.headers, ...hint });
  return true;
}

/** The JSON of a request, or undefined where it is none or does not say so. */
export function readJsonBody({ headers, body }: ReceivedRequest): unknown {
  if (headers["content-type"] !== "application/json") return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** About one megapixel of a ratio, in multiples of `multiple`. */
export function megapixelOf(ratio: string, multiple: number): { width: number; height: number } {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  const round = (edge: number) => Math.round(edge / multiple) * multiple;
  const edge = Math.sqrt((2 ** 20 * across) / down);
  return { width: round(edge), height: round((edge * down) / across) };
}
