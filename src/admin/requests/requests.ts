import { z } from "zod";
import { sumTokens } from "../../domain/usage.ts";
import { formatNanos } from "../../lib/money.ts";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { getKey } from "../keys/keys.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { isoTime } from "../output.ts";
import { pageFields, readCursor, type Page } from "../paging.ts";
import type { ListedRequest, RequestFilter } from "../usage/store-port.ts";
import type { requestRowSchema } from "../usage/schema.ts";

const requestFilterSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  channel: z.string().optional(),
  requestId: z.string().optional().describe("The caller's"),
  outcome: z.enum(["succeeded", "failed"]).optional(),
  statusClass: z.enum(["2xx", "4xx", "5xx"]).optional(),
  code: z.string().optional().describe("Error code"),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional().describe("Exclusive"),
});

export const requestsInputSchema = requestFilterSchema.extend(pageFields);

type Row = z.input<typeof requestRowSchema>;

/** Returns a page of requests, newest first. Throws 404 for an unknown organization or key. */
export async function listRequests(
  context: AdminContext,
  input: z.output<typeof requestsInputSchema>,
): Promise<Page<Row>> {
  const { cursor, limit, ...wanted } = input;
  const filter = await requestFilter(context, wanted);
  const below = readCursor(cursor) ?? null;
  // Reads one more request than the page has, to find out if another page follows.
  const found = await context.store.requests.list(filter, { below, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const names = await keyNames(context, page);
  return {
    data: page.map((request) => rowOf(request, names)),
    next: found.length > limit && last ? `${last.at}.${last.id}` : null,
  };
}

/** Returns the filter for the store. Throws 404 for an unknown organization or key. */
async function requestFilter(
  context: AdminContext,
  { organizationId, ...filter }: z.output<typeof requestFilterSchema>,
): Promise<RequestFilter> {
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  if (filter.keyId !== undefined) await getKey(context, filter.keyId, "keyId");
  return { ...filter, ...(organizationId !== undefined && { organizations: [organizationId] }) };
}

/** Returns the names of the keys of requests, including deleted keys. */
export async function keyNames(
  { store }: AdminContext,
  requests: readonly ListedRequest[],
): Promise<ReadonlyMap<string, string>> {
  return await store.keys.names([...new Set(requests.flatMap((request) => keyOf(request) ?? []))]);
}

function keyOf({ record, charge }: ListedRequest): string | null {
  return record?.keyId ?? charge?.keyId ?? null;
}

/**
 * Returns the list row of a request. A charge without a log record is shown as a success, because by default only
 * failed, slow and retried requests are logged.
 */
export function rowOf(request: ListedRequest, names: ReadonlyMap<string, string>): Row {
  const { id, record, charge } = request;
  const keyId = keyOf(request);
  const usage = charge?.usage ?? null;
  const attempts = record?.attempts ?? charge?.attempts ?? [];
  return {
    id,
    requestId: record?.requestId ?? charge?.requestId ?? id,
    at: isoTime(record?.at ?? charge?.admittedAt ?? request.at),
    route: record?.route ?? null,
    organizationId: record?.organizationId ?? charge?.organizationId ?? null,
    keyId,
    keyName: keyId === null ? null : (names.get(keyId) ?? null),
    source: record?.source ?? charge?.source ?? null,
    model: record?.model ?? charge?.model ?? null,
    askedModel: record?.askedModel ?? null,
    channel: charge?.channel ?? record?.channel ?? null,
    status: record?.status ?? 200,
    code: record?.code ?? null,
    message: record?.message ?? null,
    isFailed: record?.isFailed ?? false,
    durationMs:
      record?.durationMs ?? (charge?.admittedAt === undefined ? null : charge.at - charge.admittedAt),
    attempts: attempts.length,
    amount: charge ? formatNanos(charge.amount) : null,
    currency: charge?.currency ?? null,
    images: usage?.unit === "image" ? usage.count : 0,
    tokens: usage?.unit === "token" ? sumTokens(usage.tokens) : 0,
    flags: [...(charge?.flags ?? [])],
  };
}
