import { readOwnUsage } from "../../admin/usage/own-usage.ts";
import type { AdminStore } from "../../admin/admin-store.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { limitOf } from "../../gateway/admission/limit-grant.ts";
import type { LimitRequest } from "../../gateway/admission/limits.ts";
import type { Core } from "../../gateway/core.ts";
import { budgetsOf } from "../../gateway/metering/billing.ts";
import { queryOf, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

type Parts = Pick<Core, "limiter" | "limits" | "clock"> & {
  store: Pick<AdminStore, "usage" | "budgets" | "requests">;
};

const DEFAULT_DAYS = 30;
const MAX_DAYS = 90;

/** Returns the route of a key's own usage and remaining limits, for programs that have only the key. */
export function ownUsageRoutes(parts: Parts): HttpRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/usage",
      name: "usage",
      family: "images",
      auth: "key",
      scope: null,
      // The limits count the request, because it reads the database.
      pipeline: "text",
      handle: async (exchange) =>
        Response.json(await read(parts, exchange), { headers: baseHeaders(exchange.requestId) }),
    },
  ];
}

async function read(parts: Parts, exchange: AuthenticatedExchange): Promise<object> {
  const { principal, request } = exchange;
  const { key, organization } = principal;
  const owner = { keyId: key.id, currency: organization.currency, budgets: budgetsOf(principal) };
  const days = readDays(queryOf(request.url).get("days"));
  const usage = await readOwnUsage(parts.store, owner, days, parts.clock.now());
  return {
    object: "usage",
    key: {
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      scopes: [...key.scopes],
      expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
    },
    ...usage,
    limits: await limitsOf(parts, exchange),
  };
}

function readDays(text: string | null): number {
  if (text === null) return DEFAULT_DAYS;
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_DAYS) return days;
  const message = `\`days\` must be a whole number from 1 to ${MAX_DAYS}.`;
  throw new GatewayError("invalid_parameter", message, { param: "days" });
}

const QUANTITIES = {
  requests: "requestsPerMinute",
  tokens: "tokensPerMinute",
  images: "imagesPerMinute",
} as const;

/** Returns the remaining amount of each limit per minute. */
async function limitsOf({ limiter, limits }: Parts, { principal }: AuthenticatedExchange): Promise<object[]> {
  const owners = { organization: principal.organization, key: principal.key };
  const wanted = (["organization", "key"] as const).flatMap((scope) =>
    (["requests", "tokens", "images"] as const).flatMap((quantity): LimitRequest[] => {
      const name = QUANTITIES[quantity];
      const limit = limitOf(owners[scope].limits[name], limits[scope][name]);
      return limit === null ? [] : [{ quantity, scope, owner: owners[scope].id, limit, amount: 0 }];
    }),
  );
  if (wanted.length === 0) return [];
  const verdict = await limiter.take(wanted);
  if (verdict.isAdmitted) verdict.reservation.release();
  return wanted.map(({ scope, quantity, limit }, index) => ({
    scope,
    quantity,
    per: "minute",
    limit,
    remaining: verdict.windows[index]?.remaining ?? limit,
    reset_seconds: verdict.windows[index]?.resetSeconds ?? 0,
  }));
}
