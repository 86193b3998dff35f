import { ApiError } from "../../api/call.ts";
import { readBody } from "../../api/public.ts";

/** The usage of the calling key, as `GET /v1/usage` returns it. */
export interface OwnUsage {
  key: { id: string; name: string; prefix: string; scopes: string[]; expires_at: string | null };
  /** First and last moment of the counted usage, in ISO 8601. */
  from: string;
  to: string;
  currency: string;
  totals: Used;
  days: (Used & { date: string; models: (Used & { model: string })[] })[];
  budgets: OwnBudget[];
  limits: OwnLimit[];
  requests: OwnRequest[];
}

interface Used {
  requests: number;
  amount: string;
  images: number;
  tokens: Record<string, number>;
}

export interface OwnBudget {
  scope: "organization" | "key";
  period: "total" | "day" | "month";
  amount: string;
  spent: string;
  left: string;
  currency: string;
  period_end: string | null;
}

export interface OwnLimit {
  scope: "organization" | "key";
  quantity: "requests" | "tokens" | "images";
  limit: number;
  remaining: number;
}

export interface OwnRequest {
  id: string;
  request_id: string;
  at: string;
  model: string | null;
  status: number;
  code: string | null;
  message: string | null;
  duration_ms: number | null;
  amount: string | null;
  currency: string | null;
}

/** Reads a path of the public interface with a key. The session's cookie is not sent. */
export async function readWithKey<Data>(path: string, secret: string, signal: AbortSignal): Promise<Data> {
  const response = await fetch(path, {
    signal,
    credentials: "omit",
    headers: { authorization: `Bearer ${secret}` },
  });
  if (response.ok) return await readBody(response);
  const { error } = await readBody<OwnFailure>(response).catch((): OwnFailure => ({}));
  throw new ApiError(
    response.status,
    error?.code ?? "unavailable",
    error?.message ?? response.statusText,
    null,
    error?.request_id ?? null,
  );
}

interface OwnFailure {
  error?: { message?: string; code?: string; request_id?: string };
}
