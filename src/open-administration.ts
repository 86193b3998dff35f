import type { RunningGateway } from "./admin/context.ts";
import type { Health } from "./gateway/routing/health.ts";
import { requestCancel } from "./jobs/cancel.ts";
import { systemClock } from "./lib/clock.ts";
import type { Degradations } from "./degradations.ts";
import type { LiveSettings } from "./live-settings.ts";
import type { OpenedAlerts } from "./open-alerts.ts";
import { openConfiguration, type LoadConfiguration } from "./open-configuration.ts";
import type { OpenedJobs } from "./open-jobs.ts";
import type { Recording } from "./record-usage.ts";
import type { ServerOptions } from "./server/index.ts";
import type { Blobs } from "./storage/blobs/index.ts";
import type { Storage } from "./storage/index.ts";

interface AdministeredParts {
  alerts: OpenedAlerts;
  storage: Storage;
  blobs: Blobs;
  health: Health;
  jobs: OpenedJobs["forServer"];
  degradations: Degradations;
  recording: Pick<Recording, "writeCounts">;
}

/** What administration over HTTP works with. */
export function openAdministration(
  live: LiveSettings,
  load: LoadConfiguration,
  parts: AdministeredParts,
): ServerOptions["admin"] {
  return {
    store: parts.storage.admin,
    clock: systemClock,
    get catalogue() {
      return live.current;
    },
    running: runningGateway(live, parts),
    configuration: openConfiguration(load, () => parts.storage.snapshot.refresh()),
  };
}

const DAY_MS = 24 * 60 * 60_000;

function runningGateway(live: LiveSettings, parts: AdministeredParts): RunningGateway {
  const { health, jobs, blobs, degradations, recording, alerts } = parts;
  return {
    writeCounts: () => recording.writeCounts(),
    degradations: () => degradations.now(),
    linkTo: (name) => blobs.links.sign(live.current.server.publicUrl ?? "", name),
    picturesKeptMs: () => live.current.blobs.retentionDays * DAY_MS,
    ejections: () => health.ejections(),
    testMail: alerts.testMail,
    cancelJob: (organizationId, id) => requestCancel({ ...jobs, blobs: blobs.store }, organizationId, id),
  };
}
