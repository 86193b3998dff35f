import type { Principal } from "../../domain/api-key.ts";
import { FAMILIES } from "../../domain/family.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Model } from "../../domain/model.ts";
import { queryOf, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { isModelName, modelName } from "./native-call.ts";

/** Returns the routes that list models in the native protocol's format (Gemini API reference, `models.list`). */
export function nativeModelRoutes(callable: (principal: Principal) => readonly Model[]): {
  list: HttpRoute;
  one: HttpRoute;
} {
  const models = (principal: Principal): Model[] =>
    callable(principal).filter((model) => model.type !== "image" || FAMILIES[model.family].native);
  const common = {
    method: "GET",
    family: "native",
    auth: "key",
    scope: null,
    keyHeaders: () => ["x-goog-api-key"],
  } as const;
  return {
    list: {
      ...common,
      path: "/v1beta/models",
      name: "native.models",
      handle: (exchange: AuthenticatedExchange) =>
        respond(exchange, page(models(exchange.principal), exchange)),
    },
    one: {
      ...common,
      path: "/v1beta/models/{id}",
      name: "native.models.one",
      takes: isModelName,
      handle(exchange: AuthenticatedExchange) {
        const id = modelName(exchange.parameter);
        const model = models(exchange.principal).find((each) => each.id === id);
        if (!model)
          throw new GatewayError("not_found", "There is no model with this name that you can call.");
        return respond(exchange, describe(model));
      },
    },
  };
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 1_000;

/** Returns a page of the list. The page token is the id of the last model on the previous page. */
function page(models: readonly Model[], { request }: AuthenticatedExchange): object {
  const query = queryOf(request.url);
  const size = Number(query.get("pageSize") ?? DEFAULT_PAGE);
  if (!Number.isInteger(size) || size < 0)
    throw new GatewayError("invalid_parameter", "`pageSize` must be a whole number.", { param: "pageSize" });
  const token = query.get("pageToken");
  const start = token === null ? 0 : models.findIndex(({ id }) => id === token) + 1;
  if (token !== null && start === 0)
    throw new GatewayError("invalid_parameter", "`pageToken` is not one of this list.", {
      param: "pageToken",
    });
  const end = start + Math.min(size || DEFAULT_PAGE, MAX_PAGE);
  const last = models[end - 1];
  return {
    models: models.slice(start, end).map(describe),
    ...(last && end < models.length && { nextPageToken: last.id }),
  };
}

const TEXT_METHODS = ["generateContent", "streamGenerateContent", "countTokens"];
const METHODS: Readonly<Record<Model["type"], readonly string[]>> = {
  chat: TEXT_METHODS,
  messages: TEXT_METHODS,
  embedding: ["embedContent", "batchEmbedContents"],
  image: ["generateContent", "streamGenerateContent"],
};

function describe(model: Model): object {
  const { id, displayName, created } = model;
  const text = "maxOutputTokens" in model ? model : null;
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: new Date(created * 1000).toISOString().slice(0, 10),
    displayName,
    description: displayName,
    ...(text && { outputTokenLimit: text.maxOutputTokens }),
    supportedGenerationMethods: METHODS[model.type],
    ...(text && { thinking: text.reasoning !== undefined }),
  };
}

function respond({ requestId }: AuthenticatedExchange, body: object): Response {
  return Response.json(body, { headers: baseHeaders(requestId) });
}
