import {
  type ImageDelivery,
  type ImageOrder,
  type ImageReply,
  type ImageRequest,
  storedImages,
} from "../domain/image.ts";
import type { Target } from "../domain/channel.ts";
import { FAMILIES } from "../domain/family.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { billedCell, type ImageQuote } from "../domain/image-quote.ts";
import type { LedgerFlag } from "../domain/ledger.ts";
import { deliveredTier } from "../domain/size.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { ImageUsage, VendorCost } from "../domain/usage.ts";
import type { Spool } from "../lib/spool.ts";
import {
  admitImages,
  ignoredParams,
  type FittedImageRequest,
  type ImageAdmission,
} from "./admission/admit-images.ts";
import type { LimitGrant } from "./admission/limit-grant.ts";
import { fallbackOf, routeOf } from "./admission/model-access.ts";
import {
  deliver,
  deliveryKind,
  readPictures,
  type DeliverySettings,
  type ReadPicture,
} from "./delivery/images.ts";
import { callRoute } from "./call-route.ts";
import type { Core } from "./core.ts";
import { ClientDisconnected, type Call } from "./routing/call.ts";
import { mayFailOver, type Committed } from "./routing/failover.ts";
import { orderTargets } from "./routing/target-queue.ts";
import { prepareReferences, type ReferenceSettings } from "./references.ts";
import { noteContent, type RequestContext } from "./request-context.ts";

export type ImageCore = Core & DeliverySettings & ReferenceSettings;

/** The result of an image request. */
export interface ImageOutcome {
  delivery: ImageDelivery;
  /** Number of images requested; fewer may have been delivered. */
  requested: number;
  limitState: LimitGrant["limitState"];
  /** Fields that had no effect. The header `x-gateway-ignored-params` lists them. */
  ignored: readonly string[];
}

interface ImageSurroundings {
  /** Base address of the links to pictures. */
  base: string;
  /** The files of the request and of the vendor's reply. The spool must exist until the pictures are delivered. */
  spool: Spool;
  run?: ImageRun;
}

/** Callbacks for the vendor calls of a job. An error thrown by a callback ends the request. */
export interface ImageRun {
  /** Awaited before each call. An error prevents the call. */
  onCall(target: Target): Promise<void>;
  /** Awaited before the pictures are stored. */
  onStore(): Promise<void>;
  vendorJobs: NonNullable<ImageOrder["vendorJobs"]>;
  /** True for a target that may be called. If a vendor already has the job, this is only the target of that call. */
  isTarget(target: Target): boolean;
}

/**
 * Serves an image request. Throws a `GatewayError`, an `UpstreamError` when no target served the request, and
 * `ClientDisconnected` when the client has disconnected.
 */
export async function handleImages(
  core: ImageCore,
  context: RequestContext,
  request: ImageRequest,
  surroundings: ImageSurroundings,
): Promise<ImageOutcome> {
  requireStorage(core, context, request);
  using admission = await admitImages(core, context, request);
  return await makeImages(core, admission, request, surroundings);
}

/** Refuses a request for links when pictures cannot be stored. Called before a vendor is paid. */
export function requireStorage(core: ImageCore, { principal }: RequestContext, request: ImageRequest): void {
  const { settings } = principal.organization;
  if (deliveryKind(request, settings).isLinked && !core.blobs.isAvailable()) throw noStorage();
}

/** Generates the pictures of an admitted request and settles the request. Throws as `handleImages` does. */
export async function makeImages(
  core: ImageCore,
  admission: ImageAdmission,
  request: ImageRequest,
  { base, spool, run }: ImageSurroundings,
): Promise<ImageOutcome> {
  const { admitted, fitted } = admission;
  const { context } = admitted;
  noteContent(context, request.prompt);
  const usesMask = FAMILIES[admitted.model.family].mask;
  const references = await prepareReferences(core, request, {
    organization: context.principal.organization.id,
    spool,
    usesMask,
    signal: context.signal,
  });
  spool.stopRefusing();
  const inputs = { ...references, spool };
  const { reply, target, release } = await callVendors(core, admission, request, { ...inputs, run });
  release();
  const { vendorCost } = reply.reply;
  if (isAbandoned(context)) throw abandon(admission, target, request, vendorCost);
  context.facts.surplus = Math.max(0, reply.pictures.length - request.count);
  await run?.onStore();
  const { organization } = context.principal;
  const delivery = await deliver(core, {
    request,
    ...reply,
    sent: fitted,
    base,
    settings: organization.settings,
    organizationId: organization.id,
  });
  if (isAbandoned(context)) throw abandon(admission, target, request, vendorCost);
  settle(admission, target, request, { ...delivery, vendorCost });
  context.facts.pictures = storedImages(delivery);
  const ignored = ignoredParams(request, fitted);
  return { delivery, requested: request.count, limitState: admitted.limitState, ignored };
}

function noStorage(): GatewayError {
  const message = "Images cannot be stored just now. Retry shortly, or request them as base64.";
  return new GatewayError("dependency_unavailable", message, { retryAfterSeconds: 10 });
}

type Inputs = Pick<ImageOrder, "references" | "mask" | "spool">;

function callVendors(
  core: Core,
  { admitted, fitted, quote }: Omit<ImageAdmission, typeof Symbol.dispose>,
  request: ImageRequest,
  { run, ...inputs }: Inputs & { run: ImageRun | undefined },
): Promise<Committed<{ reply: ImageReply; pictures: ReadPicture[] }>> {
  const { context, model } = admitted;
  const { organization } = context.principal;
  const { failOverRefusals, fallbackAfterMs } = organization.settings;
  const directory = core.snapshot.directory();
  const route = routeOf(directory, context.principal, model.id);
  const isTarget = (target: Target): boolean => run?.isTarget(target) ?? true;
  const fallback = fallbackOf(directory, context.principal, model.id);
  let sentTo: Target | null = null;
  return callRoute(core, admitted, {
    targets: orderTargets(route, core.random).filter(isTarget),
    afterTimeout: fallback && isTarget(fallback) ? fallback : null,
    totalMs: core.timeouts.image.totalMs,
    failsOver: (error) => {
      // The vendor may still charge for the picture, so another target is called only with a `fallbackAfterMs`.
      if (error.kind === "timeout" && error.isAmbiguous) return fallbackAfterMs !== null;
      return mayFailOver(error, failOverRefusals);
    },
    callTarget: async (target, call, canMoveOn) => {
      await run?.onCall(target);
      const { firstByteMs } = { ...core.timeouts.image, ...target.channel.timeouts };
      const limitMs = fallbackAfterMs ?? firstByteMs;
      // The organization's limit may be shorter than the channel's limit. The organization's limit ends the call only
      // if another target can be called. Otherwise the channel's limit ends the call.
      call.expect("the picture", limitMs, () => (canMoveOn() ? 0 : firstByteMs - limitMs));
      const parts = {
        model,
        organization: organization.id,
        ...inputs,
        ...(run && { vendorJobs: run.vendorJobs }),
      };
      const order = { ...orderFor(request, fitted, target), ...parts };
      sentTo = target;
      const reply = await generate(core, order, target, call);
      call.stopExpecting();
      call.vendorRequestId = reply.requestId;
      call.ignoredParams = ignoredParams(request, fitted);
      return { reply, pictures: await readPictures(reply.images) };
    },
    settleAbandoned: () => (sentTo ? abandon({ admitted, quote }, sentTo, request) : undefined),
  });
}

function generate(core: Core, order: ImageOrder, { channel }: Target, call: Call): Promise<ImageReply> {
  const upstream = core.upstreams.image(channel);
  if (!upstream) throw new UpstreamError("account", `channel ${channel.id} does not make images`);
  return upstream.generate(order, call.signal);
}

function orderFor(
  { prompt, count, format, compression, native }: ImageRequest,
  { size, quality, background }: FittedImageRequest,
  { upstreamModel }: Target,
): Omit<ImageOrder, "model" | "organization" | "vendorJobs" | keyof Inputs> {
  return { upstreamModel, prompt, size, quality, background, count, format, compression, native };
}

/** Charges the settings that took effect, but at most the quote. Throws when the charge cannot be recorded. */
function settle(
  { admitted, fitted, quote }: ImageAdmission,
  target: Target,
  { count }: ImageRequest,
  {
    images,
    width,
    height,
    quality,
    usage: tokens,
    vendorCost,
  }: ImageDelivery & Pick<ImageReply, "vendorCost">,
): void {
  const tier = deliveredTier(quote.tier, fitted.size, { width, height });
  const cell = billedCell(admitted.price, admitted.model.image, quote, { tier, quality });
  const usage: ImageUsage = {
    unit: "image",
    count: images.length,
    ...cell,
    ...(tokens && { tokens }),
    ...(vendorCost && { vendorCost }),
  };
  const flags: LedgerFlag[] = images.length < count ? ["partial"] : [];
  if (admitted.context.signal.aborted) flags.push("caller_gone");
  admitted.settle({ target, usage, requested: requestedUsage(quote, count), flags });
}

/** True when the client has disconnected and its organization does not want replies read to their end. */
function isAbandoned({ signal, principal }: RequestContext): boolean {
  return signal.aborted && principal.organization.settings.callerGone === "abort";
}

/** Settles a vendor call whose client disconnected or process ended: records the estimated cost, charges zero. */
export function abandon(
  { admitted, quote }: Pick<ImageAdmission, "admitted" | "quote">,
  target: Target,
  { count }: ImageRequest,
  vendorCost?: VendorCost,
): ClientDisconnected {
  const abandoned = requestedUsage(quote, count);
  const usage = { ...abandoned, count: 0, ...(vendorCost && { vendorCost }) };
  const flags: LedgerFlag[] = admitted.context.signal.aborted ? ["partial", "caller_gone"] : ["partial"];
  admitted.settle({ target, usage, abandoned: [abandoned], flags });
  return new ClientDisconnected();
}

function requestedUsage({ tier, billedQuality }: ImageQuote, count: number): ImageUsage {
  return { unit: "image", count, tier, quality: billedQuality };
}
