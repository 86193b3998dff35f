import { mergeReloaded, watchFile, type LoadedSettings, type Settings } from "./config/index.ts";
import type { BackgroundWork } from "./lib/waiting.ts";

interface ReloadOptions {
  /** What the process started with. */
  loaded: LoadedSettings;
  /** Loads the configuration anew; throws a `ConfigurationError`. */
  load(): Promise<LoadedSettings>;
  /** Makes settings the running ones. What it throws leaves the running ones as they are. */
  apply(settings: Settings): void;
  log(message: string, cause: unknown, level?: "info" | "warn"): void;
}

interface Reloading extends BackgroundWork {
  /** Loads the configuration now; never rejects. */
  reload(): Promise<void>;
}

const REFUSED = "the configuration was not reloaded, the running one stays";

/** Reloads the configuration on SIGHUP and when the file changes, one reload at a time. */
export function reloadOnChange({ loaded, load, apply, log }: ReloadOptions): Reloading {
  let running = loaded;
  const reloadOnce = async (): Promise<void> => {
    try {
      const reload = mergeReloaded(running, await load());
      apply(reload.loaded.settings);
      running = reload.loaded;
      report(reload, log);
    } catch (error) {
      log(REFUSED, error);
    }
  };
  let last = Promise.resolve();
  const reload = (): Promise<void> => (last = last.then(reloadOnce));
  const onSignal = (): void => void reload();
  process.on("SIGHUP", onSignal);
  const watch = watchFile(loaded.file.path, loaded.file.version, reload, (error) => log(REFUSED, error));
  return {
    reload,
    async stop() {
      process.off("SIGHUP", onSignal);
      await watch.stop();
      await last;
    },
  };
}

function report(
  { loaded, changed, needsRestart }: ReturnType<typeof mergeReloaded>,
  log: ReloadOptions["log"],
): void {
  if (changed.length > 0) log(`configuration reloaded: ${listed(changed)}`, null, "info");
  else log("configuration reloaded: nothing changed that a running process takes over", null, "info");
  if (needsRestart.length > 0) log(`takes effect at the next start: ${listed(needsRestart)}`, null);
  for (const { path, message } of loaded.warnings) log(`${path} ${message}`, null);
}

const MAX_LISTED = 20;

function listed(paths: readonly string[]): string {
  const rest = paths.length - MAX_LISTED;
  return paths.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
