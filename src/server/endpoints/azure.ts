import { readObject } from "../../dialects/request-body.ts";
import { editMembers } from "../../lib/json-edit.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import type { HttpRoute } from "../routes.ts";

/** Operations that Azure's clients also call under the name of a deployment (openai-node, `AzureOpenAI`). */
const OPERATIONS: ReadonlySet<string> = new Set([
  "chat/completions",
  "images/generations",
  "images/edits",
  "embeddings",
]);

/**
 * Returns the same endpoints at the addresses of Azure OpenAI, for its clients: under `/openai/v1/` and `/openai/`, and
 * under the name of a deployment, which is the model. They send the key in `api-key`.
 */
export function azureRoutes(routes: readonly HttpRoute[]): HttpRoute[] {
  return routes.flatMap((route) => {
    if (route.auth !== "key" || !route.path.startsWith("/v1/")) return [];
    const operation: string = route.path.slice("/v1/".length);
    const keyHeaders = (headers: Headers) => [...(route.keyHeaders?.(headers) ?? []), "api-key"];
    // Also without a version: Azure's client sends forms there that name the model.
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
 * Replaces the model of a JSON body by the one that the path names, if any, and returns the bytes. Throws a
 * `GatewayError` for a body that is not an object, as the reader of the protocol does.
 */
export function withPathModel(bytes: Uint8Array, { model }: { model?: string }): Uint8Array {
  if (model === undefined) return bytes;
  const { raw } = readObject(bytes);
  return Buffer.from(editMembers(raw, { model: () => JSON.stringify(model) }));
}
