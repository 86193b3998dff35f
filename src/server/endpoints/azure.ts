import { readObject } from "../../dialects/request-body.ts";
import { editMembers } from "../../lib/json-edit.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import type { Route } from "../routes.ts";

/** Operations that Azure's clients also call under the name of a deployment (openai-node, `AzureOpenAI`). */
const OPERATIONS: ReadonlySet<string> = new Set([
  "chat/completions",
  "images/generations",
  "images/edits",
  "embeddings",
]);

/**
 * The same endpoints at the addresses of Azure OpenAI, for clients made for that: under `/openai/v1/` and `/openai/`,
 * and under the name of a deployment, which is the model. The key stands in `api-key` there.
 */
export function azureRoutes(routes: readonly Route[]): Route[] {
  return routes.flatMap((route) => {
    if (route.auth !== "key" || !route.path.startsWith("/v1/")) return [];
    const operation: string = route.path.slice("/v1/".length);
    const keyHeaders = (headers: Headers) => [...(route.keyHeaders?.(headers) ?? []), "api-key"];
    // Without a version too: there its client sends what names its model in a form.
    const renamed: Route[] = ["/openai/v1/", "/openai/"].map((prefix) =>
      Object.assign({ ...route }, { path: prefix + operation, keyHeaders }),
    );
    if (!OPERATIONS.has(operation)) return renamed;
    const handle = (exchange: AuthenticatedExchange) =>
      route.handle(Object.assign(exchange, { model: exchange.parameter }));
    return [...renamed, { ...route, path: `/openai/deployments/{model}/${operation}`, keyHeaders, handle }];
  });
}

/**
 * The bytes of a JSON body with the model that the path names, if any, in place of its own. Throws a `GatewayError`
 * for what is no object, as the reader of the protocol does.
 */
export function withPathModel(bytes: Uint8Array, { model }: { model?: string }): Uint8Array {
  if (model === undefined) return bytes;
  const { raw } = readObject(bytes);
  return Buffer.from(editMembers(raw, { model: () => JSON.stringify(model) }));
}
