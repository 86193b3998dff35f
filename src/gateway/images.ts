import type { ImageDelivery } from "../domain/delivered-image.ts";
import type { Target } from "../domain/channel.ts";
import { FAMILIES } from "../domain/family.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { ImageOrder, ImageReply, ImageRequest } from "../domain/image.ts";
import type { LedgerFlag } from "../domain/ledger.ts";
import type { ImageModel } from "../domain/model.ts";
import { imageUnitPrice, type ImagePrice } from "../domain/price.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { ImageUsage } from "../domain/usage.ts";
import type { Nanos } from "../lib/money.ts";
import type { Spool } from "../lib/spool.ts";
import { fitToModel, type FittedImageRequest } from "./admission/fit-image-request.ts";
import { takeImageLimits, type LimitGrant } from "./admission/limits.ts";
import { requireModel, routeOf } from "./admission/model-access.ts";
import { deliver, readPictures, type DeliverySettings, type ReadPicture } from "./delivery/images.ts";
import type { Core } from "./core.ts";
import { chargeEntry } from "./metering/entry.ts";
import type { Hold } from "./metering/budget-leases.ts";
import { noPrice, requirePrice } from "./metering/price.ts";
import type { Call } from "./routing/call.ts";
import { callerError } from "./routing/caller-error.ts";
import { callTargets, type Committed } from "./routing/failover.ts";
import { orderTargets } from "./routing/order-targets.ts";
import { prepareReferences, type ReferenceSettings } from "./references.ts";
import type { RequestContext } from "./request-context.ts";

/** The answer to an image request. */
export interface ImageOutcome {
  delivery: ImageDelivery;
  /** Images asked for; fewer may have been delivered. */
  asked: number;
  rate: LimitGrant["rate"];
}

interface Admission {
  visit: RequestContext;
  request: ImageRequest;
  model: ImageModel;
  fitted: FittedImageRequest;
  price: ImagePrice;
  grant: LimitGrant;
  hold: Hold;
  guard: { signal: AbortSignal; finished(): void };
}

export type ImageCore = Core & DeliverySettings & ReferenceSettings;

type Ready = Pick<ImageOrder, "references" | "mask" | "spool">;

/**
 * Makes pictures. Throws a `GatewayError`, or `CallerGone` when nobody waits any more. `base` is the address for
 * links; `spool` holds what comes with the request and with the vendor's answer, and must outlast the delivery.
 */
export async function handleImages(
  core: ImageCore,
  visit: RequestContext,
  request: ImageRequest,
  { base, spool }: { base: string; spool: Spool },
): Promise<ImageOutcome> {
  const admission = await admit(core, visit, request);
  const { grant, guard, hold, model } = admission;
  try {
    const prepared = await prepareReferences(core, request, spool, FAMILIES[model.family].mask, visit.signal);
    const { reply: answer, target, release } = await ask(core, admission, { ...prepared, spool });
    release();
    visit.event.surplus = Math.max(0, answer.pictures.length - request.count);
    const { organization } = visit.principal;
    const delivery = await deliver(core, {
      request,
      ...answer,
      sent: admission.fitted,
      base,
      settings: organization.settings,
      organizationId: organization.id,
    });
    settle(core, admission, target, delivery);
    return { delivery, asked: request.count, rate: grant.rate };
  } catch (error) {
    core.billing.release(hold);
    throw error instanceof UpstreamError ? callerError(error) : error;
  } finally {
    grant.release();
    guard.finished();
  }
}

async function admit(core: Core, visit: RequestContext, request: ImageRequest): Promise<Admission> {
  const { principal, event } = visit;
  const directory = core.snapshot.directory();
  const model = requireModel(directory, principal, request.model, ["image"]);
  event.model = model.id;
  if (request.native && !FAMILIES[model.family].native) throw notNative();
  const fitted = fitToModel(request, model);
  const price = requirePrice(directory, principal, model.id, "image", core.clock.now());
  const unitPrice = imageUnitPrice(price, fitted.priceTier, fitted.priceQuality);
  if (unitPrice === undefined) throw noPrice();
  const taken = takeImageLimits(core.limiter, core.limits, principal, request.count);
  const grant = taken instanceof Promise ? await taken : taken;
  try {
    const held = core.billing.hold(principal, (): Nanos => unitPrice * BigInt(request.count));
    const hold = held instanceof Promise ? await held : held;
    const guard = core.detachedCalls.guard(principal.organization.settings.callerGone, visit.signal);
    return { visit, request, model, fitted, price, grant, hold, guard };
  } catch (error) {
    grant.release();
    throw error;
  }
}

function ask(
  core: Core,
  { visit, request, model, fitted, guard }: Admission,
  ready: Ready,
): Promise<Committed<{ reply: ImageReply; pictures: ReadPicture[] }>> {
  const route = routeOf(core.snapshot.directory(), visit.principal, model.id);
  const { failOverRefusals, fallbackAfterMs } = visit.principal.organization.settings;
  return callTargets(core.failover, {
    targets: orderTargets(route, core.random),
    clientSignal: guard.signal,
    totalMs: core.timeouts.image.totalMs,
    failsOver: ({ kind, isAmbiguous, isUnsent }) => {
      // A picture that may yet be made and paid for is asked for again only where the organization wants it.
      if (kind === "timeout" && isAmbiguous) return fallbackAfterMs !== null;
      return isUnsent || (kind !== "rejected" && (kind !== "refused" || failOverRefusals));
    },
    attempts: visit.event.attempts,
    callTarget: async (target, call, canMoveOn) => {
      const { firstByteMs } = { ...core.timeouts.image, ...target.channel.timeouts };
      const limitMs = fallbackAfterMs ?? firstByteMs;
      // The organization's limit makes room for somebody else; where nobody could take over, the vendor's stands.
      call.expect("the picture", limitMs, () => (canMoveOn() ? 0 : firstByteMs - limitMs));
      const reply = await random(core, { ...order(request, fitted, target), model, ...ready }, target, call);
      call.settle();
      return { reply, pictures: await readPictures(reply.images) };
    },
  });
}

function random(core: Core, imageOrder: ImageOrder, { channel }: Target, call: Call): Promise<ImageReply> {
  const upstream = core.upstreams.image(channel);
  if (!upstream) throw new UpstreamError("account", `channel ${channel.id} does not make images`);
  return upstream.generate(imageOrder, call.signal);
}

function order(
  request: ImageRequest,
  fitted: FittedImageRequest,
  { upstreamModel }: Target,
): Omit<ImageOrder, "model" | keyof Ready> {
  const { prompt, count, format, compression, native } = request;
  const { size, quality, background } = fitted;
  return { upstreamModel, prompt, size, quality, background, count, format, compression, native };
}

function notNative(): GatewayError {
  const message =
    "This model does not speak this protocol. Send the request to /v1/images/generations or /v1/images/edits.";
  return new GatewayError("wrong_endpoint_for_model", message, { param: "model" });
}

/** Writes the charge for what was delivered. Throws when it cannot be recorded. */
function settle(core: Core, admission: Admission, target: Target, { images, usage }: ImageDelivery): void {
  const { visit, request, model, fitted, price, hold } = admission;
  const used: ImageUsage = {
    unit: "image",
    count: images.length,
    tier: fitted.priceTier,
    quality: fitted.priceQuality,
    ...(usage && { tokens: usage }),
  };
  const flags: LedgerFlag[] = images.length < request.count ? ["partial"] : [];
  const at = core.clock.now();
  const entry = chargeEntry({
    visit,
    model: model.id,
    price,
    hold,
    target,
    usage: used,
    asked: { ...used, count: request.count },
    flags,
    at,
  });
  core.billing.settle(hold, entry);
  visit.event.usage = used;
  visit.event.amount = entry.amount;
  visit.event.channel = entry.channel;
}
