import type { SimulatedResponse, ReceivedRequest } from "./http-server.ts";
import { sendJson, applyEarlyFault } from "./transport.ts";
import type { Behaviour } from "./behaviour.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

/** A row of a vendor's table of errors. */
export interface ErrorRow {
  status: number;
  body: unknown;
}

export type ErrorRows = Readonly<Record<string, ErrorRow>>;

/** Returns the behaviour that sends a row. */
export function row(text: string, more: Behaviour = {}): Behaviour {
  return { fault: "error-status", text, ...more };
}

/** A call for which no error has been sent yet. */
export interface VendorCall {
  request: ReceivedRequest;
  response: SimulatedResponse;
  exchange: HttpExchange;
  behaviour: Behaviour;
  results: ResultFiles;
  /** The simulator's address, from the request's header `Host`. */
  origin: string;
  /** Sends a row of the table. */
  refuse(name: string): Promise<void>;
}

/**
 * Starts a vendor whose errors are in a table. `error-status` sends the row that `text` names. `error-in-200` sends the
 * row with status 200. Links to results refuse requests with a credential.
 */
export function startVendor(
  rows: ErrorRows,
  handle: (call: VendorCall) => Promise<void>,
): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, response, exchange) => {
    if (await results.serve(request, response)) return;
    // A cancel call takes no behaviour, because a late cancel call could take the behaviour of the next test.
    const behaviour = request.path.endsWith("/cancel") ? {} : exchange.takeBehaviour(undefined);
    if (await applyEarlyFault(behaviour, response)) return;
    const origin = `http://${request.headers["host"]}`;
    const refuse = (name: string) => sendRow(response, rows, name);
    if (behaviour.fault === "error-status") return sendRow(response, rows, behaviour.text, behaviour);
    if (behaviour.fault === "error-in-200") return sendRow(response, rows, behaviour.text, { status: 200 });
    await handle({ request, response, exchange, behaviour, results, origin, refuse });
  });
}

async function sendRow(
  response: SimulatedResponse,
  rows: ErrorRows,
  name = "",
  { status, retryAfter }: Behaviour = {},
): Promise<void> {
  const found = rows[name];
  if (!found) throw new Error(`no row is called ${name}`);
  const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  await sendJson(response, status ?? found.status, found.body, {}, headers);
}

/** Returns the JSON of a request, or undefined if body or content type are not JSON. */
export function readJsonBody({ headers, body }: ReceivedRequest): unknown {
  if (headers["content-type"] !== "application/json") return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Returns a size of about a megapixel: in `ratio`, else in the picture's, else 1:1. `multiple` divides its edges. */
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
