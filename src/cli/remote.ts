import type { z, ZodType } from "zod";
import type { Operation } from "../admin/operation.ts";

/** A gateway on which commands work, and an admin token for it. */
export interface RemoteGateway {
  url: string;
  token: string;
}

/** Runs an operation at a gateway. Throws an error with the gateway's message unless the operation succeeds. */
export async function runRemotely<Output extends ZodType<object, object>>(
  gateway: RemoteGateway,
  { method, path }: Operation<ZodType, Output>,
  input: object,
): Promise<z.input<Output>> {
  const named = Object.entries(input).filter(([, value]) => value !== undefined);
  const fields: Record<string, unknown> = Object.fromEntries(named);
  const located = path.replace(/\{([a-zA-Z]+)\}/, (_, field: string) => {
    const { [field]: value } = fields;
    delete fields[field];
    return encodeURIComponent(String(value));
  });
  const isQuery = method === "GET" || method === "DELETE";
  const response = await send(gateway, `${located}${isQuery ? queryOf(fields) : ""}`, {
    method,
    ...(!isQuery && { body: JSON.stringify(fields), headers: { "content-type": "application/json" } }),
  });
  // The gateway wrote the response by the operation's schema. A gateway of a newer version may add fields.
  return (await response.json()) as z.input<Output>;
}

/** Yields a list as the content of a file, in pieces as they arrive. */
export async function* exportRemotely(
  gateway: RemoteGateway,
  name: string,
  filter: Record<string, unknown>,
): AsyncGenerator<string> {
  const response = await send(gateway, `/export/${name}${queryOf(filter)}`, {});
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) yield decoder.decode(piece, { stream: true });
}

async function send(
  { url, token }: RemoteGateway,
  path: string,
  { headers, ...init }: RequestInit & { headers?: Record<string, string> },
): Promise<Response> {
  const base = url.replace(/(?<!\/)\/+$/, "");
  const sent = { ...init, headers: { ...headers, authorization: `Bearer ${token}` } };
  const response = await fetch(`${base}/admin/v1${path}`, sent).catch((error: Error) => {
    throw new Error(`the gateway at ${base} cannot be reached: ${error.message}`);
  });
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as {
    error?: { message?: string; field?: string | null };
  } | null;
  // Only errors of operations have `field`. A response without it comes from another server or from a wrong path.
  if (body?.error?.field !== undefined && body.error.message) throw new Error(body.error.message);
  throw new Error(
    `${base}/admin/v1${path} responded with status ${response.status}: name the gateway by its address without a path, such as ${new URL(base).origin}`,
  );
}

function queryOf(fields: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined && value !== null) query.set(field, String(value));
  return query.size === 0 ? "" : `?${query}`;
}
