import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageModel, Model, TextModel } from "../../domain/model.ts";
import {
  imageUnitPrice,
  priceStart,
  tokenPrice,
  type ImagePrice,
  type TokenPrice,
} from "../../domain/price.ts";
import { resolveSize, priceTier, readSize } from "../../domain/size.ts";
import type { SizeTier } from "../../domain/usage.ts";
import { fitToModel } from "../../gateway/admission/fit-image-request.ts";
import { mayCall, MODEL_SCOPES, requireModel } from "../../gateway/admission/model-access.ts";
import { findPrice, noPrice, requirePrice } from "../../gateway/metering/price.ts";
import { requireScope } from "../../gateway/access/authenticate.ts";
import type { Snapshot } from "../../gateway/ports.ts";
import type { Clock } from "../../lib/clock.ts";
import { formatNanos } from "../../lib/money.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import { idHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";

/** Unit prices, from the same resolver that holds and bills. */
export function priceRoutes(snapshot: Snapshot, clock: Clock): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/pricing/lookup",
      name: "pricing.lookup",
      family: "images",
      auth: "key",
      scope: null,
      handle: (exchange) =>
        Response.json(lookUp(snapshot, clock, exchange), { headers: idHeaders(exchange.requestId) }),
    },
  ];
}

function lookUp(snapshot: Snapshot, clock: Clock, { request, principal }: AuthenticatedExchange): object {
  const query = new URL(request.url).searchParams;
  const id = query.get("model");
  const directory = snapshot.directory();
  if (!id)
    return {
      object: "list",
      data: [...directory.models.values()].flatMap((model) => rows(snapshot, clock, principal, model)),
    };
  const known = directory.models.get(id);
  if (known) requireScope(principal.key, MODEL_SCOPES[known.type]);
  const model = requireModel(directory, principal, id, ["chat", "messages", "image"]);
  if (model.type !== "image") {
    return tokenRow(model, requirePrice(directory, principal, id, "token", clock.now()));
  }
  const price = requirePrice(directory, principal, id, "image", clock.now());
  return wishedRow(model, price, query);
}

/** Every price of a model for the list; none when it cannot be called or has no price. */
function rows(snapshot: Snapshot, clock: Clock, principal: Principal, model: Model): object[] {
  if (!mayCall(principal, model)) return [];
  const price = findPrice(snapshot.directory(), principal.organization, model.id, clock.now());
  if (!price) return [];
  if (model.type !== "image") return price.unit === "token" ? [tokenRow(model, price)] : [];
  if (price.unit !== "image") return [];
  return model.image.tiers.flatMap((tier) => {
    const qualities = model.image.qualities.length > 0 ? ["auto", ...model.image.qualities] : ["auto"];
    return qualities.flatMap((quality) =>
      imageUnitPrice(price, tier, quality) === undefined ? [] : [imageRow(model, price, tier, quality, 1)],
    );
  });
}

function wishedRow(model: ImageModel, price: ImagePrice, query: URLSearchParams): object {
  const count = query.get("n") ?? "1";
  if (!/^[1-4]$/.test(count))
    throw new GatewayError("invalid_parameter", "`n` must be from 1 to 4.", { param: "n" });
  const size = readSize(query.get("size"), query.get("aspectRatio") ?? query.get("aspect_ratio"));
  const { priceQuality } = fitToModel(
    {
      model: model.id,
      prompt: "",
      size,
      quality: query.get("quality") ?? undefined,
      count: 1,
      references: [],
      compressReferences: false,
      ignored: [],
    },
    model,
  );
  return imageRow(model, price, priceTier(resolveSize(size, model.image), size), priceQuality, Number(count));
}

function imageRow(
  model: ImageModel,
  price: ImagePrice,
  tier: SizeTier,
  quality: string,
  count: number,
): object {
  const unitPrice = imageUnitPrice(price, tier, quality);
  if (unitPrice === undefined) throw noPrice();
  return {
    object: "price",
    model: model.id,
    currency: price.currency,
    unit: "image",
    tier,
    quality,
    unit_price: formatNanos(unitPrice),
    total: formatNanos(unitPrice * BigInt(count)),
    source: price.source,
    effective_from: priceStart(price.effectiveFrom),
  };
}

function tokenRow(model: TextModel, price: TokenPrice): object {
  const of = (category: Parameters<typeof tokenPrice>[1]): string => formatNanos(tokenPrice(price, category));
  return {
    object: "price",
    model: model.id,
    currency: price.currency,
    unit: "token",
    prices: {
      input: of("input"),
      output: of("output"),
      cache_read: of("cacheRead"),
      cache_write: of("cacheWrite"),
      cache_write_1h: of("cacheWrite1h"),
      ...(price.perMillion.reasoning !== undefined && { reasoning: of("reasoning") }),
    },
    source: price.source,
    effective_from: priceStart(price.effectiveFrom),
  };
}
