import type { z } from "zod";
import type { Operations, OperationName } from "../../admin/operations.ts";
import { operationPaths } from "./operation-paths.ts" with { type: "macro" };
import { operatorText, type Said } from "../texts/operator-text.ts";
import { readBody } from "./public.ts";
import { fetchInSession } from "./session-end.ts";

export type { OperationName };
export type Input<Name extends OperationName> = z.input<Operations[Name]["input"]>;
export type Output<Name extends OperationName> = z.input<Operations[Name]["output"]>;

const PATHS: Readonly<Record<string, { method: string; path: string }>> = operationPaths();

/**
 * The error of a call. A refusal of the gateway has its message in the reader's language. `field` is the path of the
 * wrong field, or null.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly field: string | null,
    readonly requestId: string | null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Runs an operation. Throws an `ApiError` unless the operation succeeds. */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  signal?: AbortSignal,
): Promise<Output<Name>> {
  const { method, path } = PATHS[name] ?? { method: "GET", path: "" };
  const fields = { ...(input as Record<string, unknown>) };
  const located = path.replace(/\{([a-zA-Z]+)\}/, (_, field: string) => {
    const value = String(fields[field]);
    delete fields[field];
    return encodeURIComponent(value);
  });
  const isBody = method !== "GET" && method !== "DELETE";
  return await send(
    method,
    isBody ? located : located + queryOf(fields),
    isBody ? fields : undefined,
    signal,
  );
}

/**
 * Sends a request to a path of the administrative interface. Use `call` for operations. Throws an `ApiError` unless the
 * request succeeds.
 */
export async function send<Reply>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Reply> {
  const request = () =>
    fetch(`/admin/v1${path}`, {
      method,
      ...(signal && { signal }),
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    }).catch((error: unknown) => {
      // `fetch` throws a TypeError when no response arrives. This error is treated like a 504 of a proxy.
      throw error instanceof TypeError ? new ApiError(504, "unavailable", error.message, null, null) : error;
    });
  const response = await fetchInSession(request, path !== "/session" && path !== "/sign-in");
  // Some replies have no body; then null is returned.
  if (response.ok) return await response.json().catch(() => null);
  const { error, requestId } = await readBody<Refused>(response).catch((): Refused => ({}));
  throw new ApiError(
    response.status,
    error?.type ?? "unavailable",
    error ? operatorText(error) : response.statusText,
    error?.field ?? null,
    requestId ?? null,
  );
}

interface Refused {
  error?: Said & { type: string; field: string | null };
  requestId?: string;
}

function queryOf(fields: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query}`;
}
