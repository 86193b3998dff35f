import { readBody } from "../../api/public.ts";
import { fetchInSession } from "../../api/session-end.ts";

/** A call of the public interface. The playground sends it, and the code snippets show it. */
export interface GatewayCall {
  method: "GET" | "POST";
  /** Path with its query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: { kind: "json"; value: object } | { kind: "form"; fields: readonly FormField[] };
}

/** A field's name and its value: a text, or a file with its name. */
export type FormField = readonly [name: string, value: string | { blob: Blob; fileName: string }];

/** An error response of the gateway, or an error event in its stream. */
export class GatewayFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
  ) {
    super(message);
    this.name = "GatewayFailure";
  }
}

/**
 * Calls the public interface with the rights of the key with this id. The session, not the key's secret, authenticates
 * the call. Throws a `GatewayFailure` for an error response.
 */
export async function callGateway(
  keyId: string,
  { method, path, headers: own, body }: GatewayCall,
  signal?: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = { ...own, "x-gateway-playground-key": keyId };
  if (body?.kind === "json") headers["content-type"] = "application/json";
  const response = await fetchInSession(() =>
    fetch(path, {
      method,
      headers,
      ...(signal && { signal }),
      ...(body && { body: body.kind === "json" ? JSON.stringify(body.value) : formOf(body.fields) }),
    }),
  );
  if (response.ok) return response;
  const failed = await readBody<FailedReply>(response).catch((): FailedReply => ({}));
  throw failureOf(response.status, requestIdOf(response), failed);
}

export function requestIdOf({ headers }: Response): string | null {
  return headers.get("x-gateway-request-id");
}

/** The error in a body or an event, in any protocol. */
export interface FailedReply {
  error?: { message?: string; code?: string | null; type?: string };
}

export function failureOf(status: number, requestId: string | null, { error }: FailedReply): GatewayFailure {
  const message = error?.message ?? `${status}`;
  return new GatewayFailure(status, error?.code ?? error?.type ?? "", message, requestId);
}

function formOf(fields: readonly FormField[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields)
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value.blob, value.fileName);
  return form;
}
