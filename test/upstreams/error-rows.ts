import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson, strikeFirst } from "./delivery.ts";
import type { Plan } from "./plan.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

/** A row of a vendor's table of errors. */
export interface ErrorRow {
  status: number;
  body: unknown;
}

export type ErrorRows = Readonly<Record<string, ErrorRow>>;

/** The plan that lets a row be answered. */
export function row(text: string, more: Plan = {}): Plan {
  return { fault: "error-status", text, ...more };
}

/** A call that no plan has struck yet. */
export interface VendorCall {
  request: ReceivedRequest;
  answer: Answer;
  exchange: HttpExchange;
  plan: Plan;
  results: ResultFiles;
  /** Address of the simulator as the caller wrote it. */
  origin: string;
  /** Answers a row of the table. */
  refuse(name: string): Promise<void>;
}

/**
 * Starts a vendor whose errors stand in a table: `error-status` answers the row that a plan's `text` names, and
 * `error-in-200` does so with the status of a success. Links to its results work without a credential only.
 */
export function startVendor(
  rows: ErrorRows,
  handle: (call: VendorCall) => Promise<void>,
): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, answer, exchange) => {
    if (await results.serve(request, answer)) return;
    // Nobody waits for a cancel call, so it would take the plan of another test's request.
    const plan = request.path.endsWith("/cancel") ? {} : exchange.takePlan(undefined);
    if (await strikeFirst(plan, answer)) return;
    const origin = `http://${request.headers["host"]}`;
    const refuse = (name: string) => answerRow(answer, rows, name);
    if (plan.fault === "error-status") return answerRow(answer, rows, plan.text, plan);
    if (plan.fault === "error-in-200") return answerRow(answer, rows, plan.text, { status: 200 });
    await handle({ request, answer, exchange, plan, results, origin, refuse });
  });
}

async function answerRow(
  answer: Answer,
  rows: ErrorRows,
  name = "",
  { status, retryAfter }: Plan = {},
): Promise<void> {
  const found = rows[name];
  if (!found) throw new Error(`no row is called ${name}`);
  const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  await sendJson(answer, status ?? found.status, found.body, {}, headers);
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

/** About one megapixel of a ratio, else of a picture's shape, else square; in multiples of `multiple`. */
export function megapixelOf(
  ratio: string | undefined,
  picture: { width: number; height: number } | null | undefined,
  multiple: number,
): { width: number; height: number } {
  const shape = ratio?.split(":").map(Number) ?? [picture?.width, picture?.height];
  const [across = 1, down = 1] = shape;
  const round = (edge: number) => Math.round(edge / multiple) * multiple;
  const edge = Math.sqrt((2 ** 20 * across) / down);
  return { width: round(edge), height: round((edge * down) / across) };
}
