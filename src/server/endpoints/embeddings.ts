import { isMistralClient } from "../../dialects/chat/index.ts";
import { type EmbeddingsPayload, readRequest } from "../../dialects/embeddings/index.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import type { Core } from "../../gateway/core.ts";
import { handleEmbeddings } from "../../gateway/embeddings.ts";
import { type BodyLimits, readJsonBody } from "../entrance/body.ts";
import { contextOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders, ignoredHeader } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { refuseProvider, withPathModel } from "./text.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** Routes for embeddings of texts, in OpenAI's protocol. */
export function embeddingRoutes(core: Core, bodyLimits: BodyLimits): HttpRoute[] {
  return [
    {
      method: "POST",
      path: "/v1/embeddings",
      name: "embeddings",
      family: "chat",
      auth: "key",
      scope: "ai:llm",
      pipeline: "text",
      handle: (exchange) =>
        serveEmbeddings(
          { core, bodyLimits, read: (bytes) => readRequest(withPathModel(bytes, exchange)) },
          exchange,
        ),
    },
  ];
}

/** Serves one request for embeddings. `read` reads its body. */
export async function serveEmbeddings(
  {
    core,
    bodyLimits,
    read,
  }: { core: Core; bodyLimits: BodyLimits; read(bytes: Uint8Array): EmbeddingsPayload },
  exchange: AuthenticatedExchange,
): Promise<Response> {
  refuseProvider(exchange.request);
  const payload = read(await readJsonBody(exchange, bodyLimits, MAX_BYTES));
  await exchange.claimOutcome?.(payload.raw);
  suspendIdleTimeout(exchange);
  const { text, limitState, ignored } = await handleEmbeddings(core, contextOf(exchange), payload);
  const headers = {
    ...baseHeaders(exchange.requestId),
    ...rateHeaders(limitState, "chat"),
    ...ignoredHeader(ignored),
    "content-type": "application/json",
  };
  return new Response(isMistralClient(exchange.request.headers) ? withId(text, exchange.id) : text, {
    headers,
  });
}

/**
 * Adds an id as the first field of a response without one. Mistral's clients require the id; OpenAI's protocol has
 * none.
 */
function withId(text: string, id: string): string {
  if (text.slice(0, 64).includes('"id"')) return text;
  return text.replace("{", () => `{"id":${JSON.stringify(id)},`);
}
