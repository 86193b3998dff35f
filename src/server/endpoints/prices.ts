import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { EmbeddingModel, ImageModel, Model, TextModel } from "../../domain/model.ts";
import { quoteImage, type ImageQuote } from "../../domain/image-quote.ts";
import {
  amountAt,
  longContextSteps,
  priceOrigin,
  priceStart,
  tokenRate,
  type ImagePrice,
  type TokenPrice,
} from "../../domain/price.ts";
import { resolveSize, priceTier, readSize } from "../../domain/size.ts";
import type { TokenCategory } from "../../domain/usage.ts";
import { fitToModel } from "../../gateway/admission/admit-images.ts";
import { mayCall, MODEL_SCOPES, requireModel } from "../../gateway/admission/model-access.ts";
import { findPrice, noPrice, requirePrice } from "../../gateway/metering/price.ts";
import { requireScope } from "../../gateway/access/authenticate.ts";
import type { Snapshot } from "../../gateway/snapshot.ts";
import type { Clock } from "../../lib/clock.ts";
import { formatNanos } from "../../lib/money.ts";
import { queryOf, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

/** Returns the route of unit prices. The prices come from the resolver that also prices holds and charges. */
export function priceRoutes(snapshot: Snapshot, clock: Clock): HttpRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/pricing/lookup",
      name: "pricing.lookup",
      family: "images",
      auth: "key",
      scope: null,
      handle: (exchange) =>
        Response.json(lookUp(snapshot, clock, exchange), { headers: baseHeaders(exchange.requestId) }),
    },
  ];
}

function lookUp(snapshot: Snapshot, clock: Clock, { request, principal }: AuthenticatedExchange): object {
  const query = queryOf(request.url);
  const id = query.get("model");
  const directory = snapshot.directory();
  if (!id)
    return {
      object: "list",
      data: [...directory.models.declared.values()].flatMap((model) =>
        allRows(snapshot, clock, principal, model),
      ),
    };
  const known = directory.models.get(id);
  if (known) requireScope(principal.key, MODEL_SCOPES[known.type]);
  const model = requireModel(directory, principal, id, ["chat", "messages", "embedding", "image"]);
  if (model.type !== "image") {
    return tokenRow(model, requirePrice(directory, principal, id, "token", clock.now()));
  }
  const price = requirePrice(directory, principal, id, "image", clock.now());
  return requestedRow(model, price, query);
}

/** Returns every price row of a model. The list is empty when the model cannot be called or has no price. */
function allRows(snapshot: Snapshot, clock: Clock, principal: Principal, model: Model): object[] {
  if (!mayCall(principal, model)) return [];
  const price = findPrice(snapshot.directory(), principal.organization, model, clock.now());
  if (!price) return [];
  if (model.type !== "image") return price.unit === "token" ? [tokenRow(model, price)] : [];
  if (price.unit !== "image") return [];
  const { tiers, qualities } = model.image;
  return tiers.flatMap((tier) =>
    ["auto", ...qualities].flatMap((quality) => {
      const quote = quoteImage(price, model.image, tier, quality);
      return quote ? [imageRow(model, price, quote, 1)] : [];
    }),
  );
}

function requestedRow(model: ImageModel, price: ImagePrice, query: URLSearchParams): object {
  // An empty value counts as absent, as in a form.
  const valueOf = (name: string) => query.get(name) || undefined;
  const count = valueOf("n") ?? "1";
  if (!/^[1-4]$/.test(count))
    throw new GatewayError("invalid_parameter", "`n` must be from 1 to 4.", { param: "n" });
  const size = readSize(valueOf("size"), valueOf("aspectRatio") ?? valueOf("aspect_ratio"));
  const { priceQuality } = fitToModel(
    {
      model: model.id,
      prompt: "",
      size,
      quality: valueOf("quality"),
      count: 1,
      references: [],
      compressReferences: false,
      ignored: [],
    },
    model,
  );
  const tier = priceTier(resolveSize(size, model.image), size);
  const quote = quoteImage(price, model.image, tier, priceQuality);
  if (!quote) throw noPrice();
  return imageRow(model, price, quote, Number(count));
}

function imageRow(
  model: ImageModel,
  { currency }: ImagePrice,
  { tier, quality, rate, settlesBy }: ImageQuote,
  count: number,
): object {
  return {
    object: "price",
    model: model.id,
    currency,
    unit: "image",
    tier,
    quality,
    unit_price: formatNanos(rate.amount),
    total: formatNanos(rate.amount * BigInt(count)),
    ...(settlesBy === "delivered" && { settles_by: settlesBy }),
    source: rate.source,
    effective_from: priceStart(rate.effectiveFrom),
  };
}

function tokenRow(model: TextModel | EmbeddingModel, price: TokenPrice): object {
  const { source, effectiveFrom } = priceOrigin(price);
  const steps = longContextSteps(price);
  return {
    object: "price",
    model: model.id,
    currency: price.currency,
    unit: "token",
    prices: tokenPrices(price, 0),
    ...(steps.length > 0 && {
      long_context: steps.map((above) => ({ above, prices: tokenPrices(price, above + 1) })),
    }),
    ...(price.perUse && { per_use: usePrices(price.perUse) }),
    source,
    effective_from: priceStart(effectiveFrom),
  };
}

function usePrices(rates: NonNullable<TokenPrice["perUse"]>): object {
  const prices = Object.entries(rates).map(([feature, { amount }]) => [feature, formatNanos(amount)]);
  return Object.fromEntries(prices);
}

/** Returns the prices of a million tokens for a request with `inputTokens` of input. */
function tokenPrices(price: TokenPrice, inputTokens: number): object {
  const of = (category: TokenCategory): string =>
    formatNanos(amountAt(tokenRate(price, category), inputTokens));
  return {
    input: of("input"),
    output: of("output"),
    cache_read: of("cacheRead"),
    cache_write: of("cacheWrite"),
    cache_write_1h: of("cacheWrite1h"),
    ...(price.perMillion.reasoning && { reasoning: of("reasoning") }),
  };
}
