import { foreignPayload } from "../../dialects/embeddings/index.ts";
import { readEmbeddings } from "../../dialects/native/embeddings.ts";
import { asJsonArray, readCountRequest, readRequest } from "../../dialects/native/text/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Core } from "../../gateway/core.ts";
import type { BodyLimits } from "../entrance/body.ts";
import { queryOf, type AuthenticatedExchange } from "../http-exchange.ts";
import type { RouteResult } from "../routes.ts";
import { serveEmbeddings } from "./embeddings.ts";
import { modelName, readCall } from "./native-call.ts";
import { serveCount, serveText } from "./text.ts";

type Endpoints = Core & { bodyLimits: BodyLimits };

/** Serves a text model in the native protocol: a whole reply, server-sent events, or a JSON array in pieces. */
export async function serveNativeText(
  core: Endpoints,
  exchange: AuthenticatedExchange,
): Promise<RouteResult> {
  const call = readCall(exchange.parameter);
  if (!call) throw new GatewayError("not_found", "There is nothing at this path.");
  const { model, method } = call;
  const common = { core, bodyLimits: core.bodyLimits };
  if (method === "countTokens") {
    const count = (bytes: Uint8Array) => readCountRequest(bytes, model);
    return serveCount({ ...common, read: count, write: (totalTokens) => ({ totalTokens }) }, exchange);
  }
  const isStream = method === "streamGenerateContent";
  const read = (bytes: Uint8Array) => readRequest(bytes, { model, isStream });
  const result = await serveText({ ...common, read }, exchange);
  if (result instanceof Response || isServerSentEvents(exchange)) return result;
  const { response, ended } = result;
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  return { response: new Response(response.body && asJsonArray(response.body), { headers }), ended };
}

/** True when the request asks for server-sent events. Otherwise the stream is one JSON array. */
export function isServerSentEvents({ request }: AuthenticatedExchange): boolean {
  return queryOf(request.url).get("alt") === "sse";
}

/** Serves `embedContent` and `batchEmbedContents` with any vendor of embeddings. */
export async function serveNativeEmbeddings(
  core: Endpoints,
  exchange: AuthenticatedExchange,
): Promise<Response> {
  const call = readCall(exchange.parameter);
  if (!call) throw new GatewayError("not_found", "There is nothing at this path.");
  const { model, method } = call;
  const terms = {
    isModel: (name: string) => modelName(name) === model,
    isBatch: method === "batchEmbedContents",
  };
  const read = (bytes: Uint8Array) => foreignPayload(model, readEmbeddings(bytes, terms));
  return serveEmbeddings({ core, bodyLimits: core.bodyLimits, read }, exchange);
}
