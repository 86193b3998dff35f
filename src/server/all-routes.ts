import { FilePool } from "../lib/spool.ts";
import { BodyLimits } from "./entrance/body.ts";
import { Lifecycle } from "./endpoint.ts";
import { eventsRoute } from "./endpoints/admin-events.ts";
import { adminRoutes } from "./endpoints/admin.ts";
import { openIdRoutes } from "./endpoints/admin-openid.ts";
import { azureRoutes, textRoutes } from "./endpoints/text.ts";
import { consoleRoutes } from "./endpoints/console.ts";
import { embeddingRoutes } from "./endpoints/embeddings.ts";
import { fileRoutes } from "./endpoints/files.ts";
import { healthRoutes } from "./endpoints/health.ts";
import { imageRoutes } from "./endpoints/images.ts";
import { modelRoutes } from "./endpoints/models.ts";
import { jobRoutes } from "./endpoints/jobs.ts";
import { nativeRoutes } from "./endpoints/native.ts";
import { docsRoutes, documentRoute } from "./endpoints/docs.ts";
import { priceRoutes } from "./endpoints/prices.ts";
import { ownUsageRoutes } from "./endpoints/own-usage.ts";
import { storedResponseRoutes } from "./endpoints/stored-responses.ts";
import { baseOf, type HttpExchange } from "./http-exchange.ts";
import type { ServerOptions } from "./options.ts";
import type { HttpRoute } from "./routes.ts";
import { SpoolQuota } from "./entrance/resource-quota.ts";

/** Returns every route of the gateway, except the metrics if they have a port of their own. */
export function allRoutes(
  options: ServerOptions,
  filePool = new FilePool(),
  lifecycle = new Lifecycle(),
): HttpRoute[] {
  const { core, blobs, server: settings } = options;
  const { clock, snapshot } = core;
  const directory = options.spoolDirectory;
  const bodyLimits = new BodyLimits(settings.bodyGraceSeconds * 1000);
  const files = { blobs: blobs.store, links: blobs.links, codecSlots: options.codecSlots };
  const base = (exchange: HttpExchange): string => baseOf(settings, exchange);
  const images = {
    ...core,
    ...files,
    safeFetch: options.safeFetch,
    bodyLimits,
    spools: { directory, filePool, quota: new SpoolQuota({ ...settings.spool, directory }) },
    baseOf: base,
  };
  const { admin: context, identity, outcomes, undeclaredProxy } = options;
  const administration = { ...settings, context, identity, outcomes, undeclaredProxy };
  // `azureRoutes` repeats these routes, except the routes of the messages protocol, at the addresses for Azure's
  // clients.
  const openAiRoutes = [
    ...textRoutes(core, bodyLimits),
    ...embeddingRoutes(core, bodyLimits),
    ...storedResponseRoutes(),
    ...imageRoutes(images),
    ...modelRoutes(snapshot, clock),
  ];
  const routes = [
    ...openAiRoutes,
    ...azureRoutes(openAiRoutes.filter(({ family }) => family !== "messages")),
    ...nativeRoutes(images),
    ...jobRoutes({ ...images, ...options.jobs }),
    ...priceRoutes(snapshot, clock),
    ...ownUsageRoutes({ ...core, store: options.admin.store }),
    ...fileRoutes(files),
    ...operatorRoutes(options, lifecycle).filter(({ name }) => name !== "metrics" || !settings.metricsPort),
    ...adminRoutes(administration, bodyLimits),
    eventsRoute(administration, lifecycle),
    ...openIdRoutes(administration, options.onProblem),
    ...consoleRoutes(options.console, administration),
    ...docsRoutes(),
  ];
  return [...routes, documentRoute(routes)];
}

/** Returns the routes of health, readiness and metrics, which may have a port of their own. */
export function operatorRoutes(
  { metrics, unready, status, server: { metricsToken } }: ServerOptions,
  lifecycle: Lifecycle,
): HttpRoute[] {
  return healthRoutes({ lifecycle, unready, status, metrics, metricsToken });
}
