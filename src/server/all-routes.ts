import type { Server } from "bun";
import { FilePool } from "../lib/spool.ts";
import { BodyLimits } from "./body-limits.ts";
import { callerBase } from "./credentials.ts";
import { Lifecycle } from "./lifecycle.ts";
import { eventsRoute } from "./endpoints/admin-events.ts";
import { adminRoutes } from "./endpoints/admin.ts";
import { openIdRoutes } from "./endpoints/admin-openid.ts";
import { azureRoutes } from "./endpoints/azure.ts";
import { consoleRoutes } from "./endpoints/console.ts";
import { embeddingRoutes } from "./endpoints/embeddings.ts";
import { fileRoutes } from "./endpoints/files.ts";
import { healthRoutes } from "./endpoints/health.ts";
import { imageRoutes } from "./endpoints/images.ts";
import { modelRoutes } from "./endpoints/models.ts";
import { jobRoutes } from "./endpoints/jobs.ts";
import { nativeRoutes } from "./endpoints/native.ts";
import { documentRoutes } from "./endpoints/openapi.ts";
import { priceRoutes } from "./endpoints/prices.ts";
import { ownUsageRoutes } from "./endpoints/own-usage.ts";
import { storedResponseRoutes } from "./endpoints/stored-responses.ts";
import { textRoutes } from "./endpoints/text.ts";
import { SpoolQuota } from "./spool-quota.ts";
import { type Route } from "./routes.ts";

import type { ServerOptions } from "./options.ts";

/** Every route of the gateway. */
export function allRoutes(
  options: ServerOptions,
  filePool = new FilePool(),
  lifecycle = new Lifecycle(),
): Route[] {
  const { core, blobs, server: address } = options;
  const { clock, snapshot } = core;
  const directory = options.spoolDirectory;
  const bodyLimits = new BodyLimits(address.bodyGraceSeconds * 1000);
  const files = { blobs: blobs.store, links: blobs.links, codecSlots: options.codecSlots };
  const baseOf = ({ request, server }: { request: Request; server: Server<undefined> }): string =>
    address.publicUrl ?? callerBase(request, server, address.trustedProxies);
  const images = {
    ...core,
    ...files,
    safeFetch: options.safeFetch,
    bodyLimits,
    spools: { directory, filePool, quota: new SpoolQuota({ ...address.spool, directory }) },
    baseOf,
  };
  const { admin: context, identity, outcomes } = options;
  const administration = { ...address, context, identity, outcomes };
  // What Azure's clients call too.
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
    ...operatorRoutes(options, lifecycle).filter(({ name }) => name !== "metrics" || !address.metricsPort),
    ...adminRoutes(administration, bodyLimits),
    eventsRoute(administration, lifecycle),
    ...openIdRoutes(administration, options.onProblem),
    ...consoleRoutes(options.console),
  ];
  return [...routes, ...documentRoutes(routes, baseOf)];
}

/** Health, readiness and metrics, which may have a port of their own. */
export function operatorRoutes(
  { metrics, server: { metricsToken } }: ServerOptions,
  lifecycle: Lifecycle,
): Route[] {
  return healthRoutes({ lifecycle, metrics, metricsToken });
}
