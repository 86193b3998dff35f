import { useCallback, useEffect, useRef, useState } from "react";
import { showProblem } from "../../ui/overlay/toast.ts";
import type { ImageEntry } from "./history.ts";
import { imageCall, type ImageForm, type Reference } from "./image-call.ts";
import { cancelJob, newRun, resumeJob, runImages, type PlaygroundRun } from "./image-run.ts";
import { newLocalId } from "./local-id.ts";
import type { PlaygroundModel } from "./models.ts";

/**
 * Runs the form with each model at the same time. The entry is saved when a run ends. It is also saved when a job is
 * submitted, so that the job is followed again when the entry is opened.
 */
export function useImageRuns(keyId: string, save: (entry: ImageEntry) => void) {
  const [runs, setRuns] = useState<readonly PlaygroundRun[]>([]);
  const aborts = useRef(new Map<string, AbortController>());
  const leaving = useLeaving();
  /** The shown entry. Runs of other entries change only the history. */
  const shown = useRef<ImageEntry | null>(null);

  const change = useCallback(
    (entry: ImageEntry, id: string) => (some: Partial<PlaygroundRun>) => {
      const isWorthSaving = some.tookMs !== undefined || (some.job !== undefined && !hasJob(entry, id));
      entry.runs = entry.runs.map((run) => (run.id === id ? { ...run, ...some } : run));
      if (shown.current?.id === entry.id) setRuns(entry.runs);
      if (isWorthSaving) save({ ...entry, runs: entry.runs.map(withLinksOnly) });
    },
    [save],
  );

  const start = (models: readonly PlaygroundModel[], form: ImageForm, references: readonly Reference[]) => {
    const entry: ImageEntry = {
      id: newLocalId(),
      at: Date.now(),
      kind: "image",
      keyId,
      form,
      references,
      runs: models.map(({ id }) => newRun(id)),
    };
    shown.current = entry;
    setRuns(entry.runs);
    for (const [index, run] of entry.runs.entries()) {
      const model = models[index];
      if (!model) continue;
      const abort = new AbortController();
      aborts.current.set(run.id, abort);
      const reports = { signal: abort.signal, left: leaving(), onChange: change(entry, run.id) };
      void runImages(keyId, run, imageCall(model, form, references), reports);
    }
  };

  const open = (kept: ImageEntry) => {
    const entry = { ...kept };
    shown.current = entry;
    setRuns(entry.runs);
    for (const run of entry.runs)
      if (run.state === "running" && run.job)
        void resumeJob(entry.keyId, run, { left: leaving(), onChange: change(entry, run.id) });
  };

  const cancel = (run: PlaygroundRun) => {
    // An entry of the history may belong to another key than the chosen one.
    if (run.job && shown.current) void cancelJob(shown.current.keyId, run.job.id).catch(showProblem);
    else aborts.current.get(run.id)?.abort();
  };
  return { runs, start, open, cancel };
}

/** Returns a function that returns a signal. The signal aborts when the component is unmounted. */
function useLeaving(): () => AbortSignal {
  const controller = useRef(new AbortController());
  useEffect(() => {
    const mounted = new AbortController();
    controller.current = mounted;
    return () => mounted.abort();
  }, []);
  return () => controller.current.signal;
}

/** Removes pictures that came as base64, because they are too large to store. */
function withLinksOnly(run: PlaygroundRun): PlaygroundRun {
  const pictures = run.pictures.filter((url) => !url.startsWith("data:"));
  return pictures.length === run.pictures.length ? run : { ...run, pictures };
}

function hasJob({ runs }: ImageEntry, id: string): boolean {
  return runs.some((run) => run.id === id && run.job !== null);
}
