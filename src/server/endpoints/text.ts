import { readRequest as readChat } from "../../dialects/chat/index.ts";
import { readCountRequest, readRequest as readMessages } from "../../dialects/messages/index.ts";
import { readRequest as readResponses } from "../../dialects/responses/index.ts";
import type { TextPayload } from "../../dialects/dialect.ts";
import type { TextDialectName } from "../../dialects/name.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import type { Core } from "../../gateway/core.ts";
import { countTokens } from "../../gateway/count-tokens.ts";
import { handleText } from "../../gateway/text.ts";
import { readJsonBody } from "../entrance/body.ts";
import type { BodyLimits } from "../entrance/body-limits.ts";
import { contextOf, queryOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import { withPathModel } from "./azure.ts";
import type { ErrorFamily, HttpRoute, RouteResult } from "../routes.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** The address of a wire format and the reader of its requests. */
interface TextEndpoint {
  path: string;
  /** Name in logs and metrics. */
  name: string;
  family: Extract<ErrorFamily, TextDialectName>;
  keyHeaders?(headers: Headers): readonly string[];
  read(bytes: Uint8Array, request: Request): TextPayload;
}

/** Clients of the messages protocol send the key in either header, or in both. */
const messages = { family: "messages", keyHeaders: () => ["x-api-key"] } as const;

const ENDPOINTS: readonly TextEndpoint[] = [
  { path: "/v1/chat/completions", name: "chat", family: "chat", read: readChat },
  {
    ...messages,
    path: "/v1/messages",
    name: "messages",
    read: (bytes, { headers }) => readMessages(bytes, headers),
  },
  { path: "/v1/responses", name: "responses", family: "responses", read: readResponses },
];

const messagesCount: CountEndpoint = {
  read: (bytes, { headers }) => readCountRequest(bytes, headers),
  write: (tokens) => ({ input_tokens: tokens }),
};

/** Routes of the text endpoints. */
export function textRoutes(core: Core, bodyLimits: BodyLimits): HttpRoute[] {
  const counting = { ...messages, path: "/v1/messages/count_tokens", name: "messages.count" };
  return [
    ...ENDPOINTS.map((endpoint) =>
      routeOf(endpoint, (exchange) => serveText({ core, bodyLimits, read: endpoint.read }, exchange)),
    ),
    routeOf(counting, (exchange) => serveCount({ core, bodyLimits, ...messagesCount }, exchange)),
  ];
}

function routeOf(
  { path, name, family, keyHeaders }: Omit<TextEndpoint, "read">,
  handler: (exchange: AuthenticatedExchange) => Promise<RouteResult>,
): HttpRoute {
  return {
    method: "POST",
    path,
    name,
    family,
    auth: "key",
    scope: "ai:llm",
    pipeline: "text",
    keyHeaders,
    handle: handler,
  };
}

/** Serves one text request; `read` reads its body. */
export async function serveText(
  { core, bodyLimits, read }: { core: Core; bodyLimits: BodyLimits } & Pick<TextEndpoint, "read">,
  exchange: AuthenticatedExchange,
): Promise<RouteResult> {
  const { request, requestId } = exchange;
  refuseProvider(request);
  const bytes = withPathModel(await readJsonBody(exchange, bodyLimits, MAX_BYTES), exchange);
  const payload = read(bytes, request);
  await exchange.claimOutcome?.(payload.raw);
  suspendIdleTimeout(exchange);
  const outcome = await handleText(core, contextOf(exchange), payload);
  const headers = Object.assign(baseHeaders(requestId), rateHeaders(outcome.limitState, payload.dialect));
  if (outcome.coveredTokens !== null) headers["x-gateway-max-tokens"] = String(outcome.coveredTokens);
  if (outcome.kind === "whole") {
    headers["content-type"] = "application/json";
    return new Response(outcome.text, { headers });
  }
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  // nginx buffers responses by default.
  headers["x-accel-buffering"] = "no";
  return { response: new Response(outcome.body, { headers }), ended: outcome.ended };
}

/** Serves the token count of a request; `write` gives an estimate the form of the protocol. */
export async function serveCount(
  { core, bodyLimits, read, write }: CountEndpoint & { core: Core; bodyLimits: BodyLimits },
  exchange: AuthenticatedExchange,
): Promise<RouteResult> {
  const { request, requestId } = exchange;
  refuseProvider(request);
  const payload = read(await readJsonBody(exchange, bodyLimits, MAX_BYTES), request);
  const { text, tokens, limitState } = await countTokens(core, contextOf(exchange), payload);
  const headers = Object.assign(baseHeaders(requestId), rateHeaders(limitState, payload.dialect));
  headers["content-type"] = "application/json";
  return new Response(text ?? JSON.stringify(write(tokens)), { headers });
}

interface CountEndpoint extends Pick<TextEndpoint, "read"> {
  write(tokens: number): object;
}

/** Throws when a request names a provider: the gateway chooses it. The dialect refuses a body field of that name. */
export function refuseProvider({ headers, url }: Request): void {
  const isInHeader = headers.has("x-provider");
  const isInQuery = url.includes("?") && queryOf(url).has("provider");
  if (!isInHeader && !isInQuery) return;
  const where = isInHeader ? "the `X-Provider` header" : "the `provider` query parameter";
  const message = `Remove ${where}: the gateway chooses the provider by itself.`;
  throw new GatewayError("provider_not_allowed", message, { param: "provider" });
}
