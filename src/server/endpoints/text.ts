import {
  asCompletionEvents,
  readCompletion,
  isMistralClient,
  readRequest as readChat,
  writeCompletion,
} from "../../dialects/chat/index.ts";
import type { TextPayload } from "../../dialects/dialect.ts";
import { readCountRequest, readRequest as readMessages } from "../../dialects/messages/index.ts";
import type { TextDialectName } from "../../dialects/name.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import { readObject } from "../../dialects/request-body.ts";
import { readRequest as readResponses } from "../../dialects/responses/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Core } from "../../gateway/core.ts";
import { countTokens } from "../../gateway/count-tokens.ts";
import { handleText } from "../../gateway/text.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { type BodyLimits, readJsonBody } from "../entrance/body.ts";
import { type AuthenticatedExchange, contextOf, queryOf, suspendIdleTimeout } from "../http-exchange.ts";
import { baseHeaders, ignoredHeader } from "../respond.ts";
import type { ErrorFamily, HttpRoute, RouteResult } from "../routes.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** The address of a text protocol and the reader of its requests. */
interface TextEndpoint {
  path: string;
  /** Name of the endpoint in logs and metrics. */
  name: string;
  family: Extract<ErrorFamily, TextDialectName>;
  keyHeaders?(headers: Headers): readonly string[];
  read(bytes: Uint8Array, request: Request): TextPayload;
}

/** Clients of the messages protocol send the key in `x-api-key`, in `Authorization`, or in both. */
const messages = { family: "messages", keyHeaders: () => ["x-api-key"] } as const;

const ENDPOINTS: readonly TextEndpoint[] = [
  {
    path: "/v1/chat/completions",
    name: "chat",
    family: "chat",
    read: (bytes, { headers }) => readChat(bytes, isMistralClient(headers)),
  },
  {
    ...messages,
    path: "/v1/messages",
    name: "messages",
    read: (bytes, { headers }) => readMessages(bytes, headers),
  },
  {
    path: "/v1/responses",
    name: "responses",
    family: "responses",
    read: (bytes, { headers }) => readResponses(bytes, headers),
  },
];

const messagesCount: CountEndpoint = {
  read: (bytes, { headers }) => readCountRequest(bytes, headers),
  write: (tokens) => ({ input_tokens: tokens }),
};

const responsesCount: CountEndpoint = {
  read: (bytes, { headers }) => readResponses(bytes, headers),
  write: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
};

/** Routes of the text endpoints. */
export function textRoutes(core: Core, bodyLimits: BodyLimits): HttpRoute[] {
  const counting = [
    { ...messages, path: "/v1/messages/count_tokens", name: "messages.count", endpoint: messagesCount },
    {
      family: "responses",
      path: "/v1/responses/input_tokens",
      name: "responses.count",
      endpoint: responsesCount,
    },
  ] as const;
  return [
    ...ENDPOINTS.map((endpoint) =>
      routeOf(endpoint, (exchange) => serveText({ core, bodyLimits, read: endpoint.read }, exchange)),
    ),
    routeOf({ path: "/v1/completions", name: "completions", family: "chat" }, (exchange) =>
      serveCompletion(core, bodyLimits, exchange),
    ),
    ...counting.map(({ endpoint, ...address }) =>
      routeOf(address, (exchange) => serveCount({ core, bodyLimits, ...endpoint }, exchange)),
    ),
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

/**
 * Serves one text request. `read` reads its body. A repetition is compared with the first request by the value of
 * `comparedBody`, by default the text of the payload.
 */
export async function serveText(
  {
    core,
    bodyLimits,
    read,
    comparedBody = ({ raw }) => raw,
  }: {
    core: Core;
    bodyLimits: BodyLimits;
    comparedBody?(payload: TextPayload): string;
  } & Pick<TextEndpoint, "read">,
  exchange: AuthenticatedExchange,
): Promise<RouteResult> {
  const { request, requestId } = exchange;
  refuseProvider(request);
  const bytes = withPathModel(await readJsonBody(exchange, bodyLimits, MAX_BYTES), exchange);
  const payload = read(bytes, request);
  if (exchange.claimOutcome) await exchange.claimOutcome(comparedBody(payload));
  suspendIdleTimeout(exchange);
  const outcome = await handleText(core, contextOf(exchange), payload);
  const headers = Object.assign(baseHeaders(requestId), rateHeaders(outcome.limitState, payload.dialect));
  if (outcome.coveredTokens !== null) headers["x-gateway-max-tokens"] = String(outcome.coveredTokens);
  Object.assign(headers, ignoredHeader(outcome.ignored));
  if (outcome.kind === "whole") {
    headers["content-type"] = "application/json";
    return new Response(outcome.text, { headers });
  }
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  // nginx buffers responses without this header.
  headers["x-accel-buffering"] = "no";
  return { response: new Response(outcome.body, { headers }), ended: outcome.ended };
}

/** Serves a completion (the older form of chat) with any text model. */
async function serveCompletion(
  core: Core,
  bodyLimits: BodyLimits,
  exchange: AuthenticatedExchange,
): Promise<RouteResult> {
  let showsUsage = false;
  let completionBody = "";
  const read = (bytes: Uint8Array): TextPayload => {
    const completion = readCompletion(bytes);
    ({ showsUsage, raw: completionBody } = completion);
    return completion.payload;
  };
  const result = await serveText({ core, bodyLimits, read, comparedBody: () => completionBody }, exchange);
  if (result instanceof Response) {
    const { headers } = result;
    return new Response(writeCompletion(await result.text()), { headers });
  }
  const { body, headers } = result.response;
  const events = body && asCompletionEvents(body, { showsUsage });
  return { response: new Response(events, { headers }), ended: result.ended };
}

/** Serves the token count of a request. `write` returns an estimate in the protocol's form. */
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

/**
 * Throws when a request names a provider in a header or the query, because the gateway chooses the provider. The
 * dialect refuses the body field `provider`.
 */
export function refuseProvider({ headers, url }: Request): void {
  const isInHeader = headers.has("x-provider");
  const isInQuery = url.includes("?") && queryOf(url).has("provider");
  if (!isInHeader && !isInQuery) return;
  const where = isInHeader ? "the `X-Provider` header" : "the `provider` query parameter";
  const message = `Remove ${where}: the gateway chooses the provider by itself.`;
  throw new GatewayError("provider_not_allowed", message, { param: "provider" });
}

/** Operations that Azure's clients also call at addresses with a deployment's name (openai-node, `AzureOpenAI`). */
const OPERATIONS: ReadonlySet<string> = new Set([
  "chat/completions",
  "images/generations",
  "images/edits",
  "completions",
  "embeddings",
]);

/**
 * Returns `routes` at the addresses of Azure OpenAI for its clients: below `/openai/v1/` and `/openai/`, and the
 * `OPERATIONS` also below the name of a deployment, which is the model. These clients send the key in `api-key`.
 */
export function azureRoutes(routes: readonly HttpRoute[]): HttpRoute[] {
  return routes.flatMap((route) => {
    if (route.auth !== "key" || !route.path.startsWith("/v1/")) return [];
    const operation: string = route.path.slice("/v1/".length);
    const keyHeaders = (headers: Headers) => [...(route.keyHeaders?.(headers) ?? []), "api-key"];
    // Addresses without a version are needed too: Azure's client uses them for forms that contain the model.
    const renamed: HttpRoute[] = ["/openai/v1/", "/openai/"].map((prefix) =>
      Object.assign({ ...route }, { path: prefix + operation, keyHeaders }),
    );
    if (!OPERATIONS.has(operation)) return renamed;
    const handle = (exchange: AuthenticatedExchange) =>
      route.handle(Object.assign(exchange, { model: exchange.parameter }));
    return [...renamed, { ...route, path: `/openai/deployments/{model}/${operation}`, keyHeaders, handle }];
  });
}

/**
 * Returns the bytes of a JSON body. A model in the path replaces the model in the body. Throws a `GatewayError` for a
 * body that is not an object, as the reader of the protocol does.
 */
export function withPathModel(bytes: Uint8Array, { model }: { model?: string }): Uint8Array {
  if (model === undefined) return bytes;
  const { raw } = readObject(bytes);
  return Buffer.from(editMembers(raw, { model: () => JSON.stringify(model) }));
}
