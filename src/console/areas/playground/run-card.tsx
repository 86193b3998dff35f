import { Ban, TriangleAlert } from "lucide-react";
import { Label } from "react-aria-components/Label";
import { ProgressBar } from "react-aria-components/ProgressBar";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import type { Reference } from "./image-call.ts";
import type { PlaygroundRun } from "./image-run.ts";
import { Billed, RequestId, ResultFailure, ResultState } from "./result-parts.tsx";
import { ResultPicture } from "./result-picture.tsx";

interface RunCardProps {
  run: PlaygroundRun;
  onCancel(): void;
  /** Called when the user takes a picture of the result as a reference. */
  onEdit(reference: Reference): void;
}

/** Shows the state and the pictures of one request. */
export function RunCard({ run, onCancel, onEdit }: RunCardProps) {
  const { t } = useTranslation("playground");
  const { state, model, failure, degraded, pictures } = run;
  return (
    <article
      aria-label={t("result.of", { model })}
      aria-busy={state === "running"}
      className="flex min-w-0 flex-1 flex-col gap-3 rounded-lg border border-line bg-surface p-4"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{model}</h2>
        <ResultState result={run} />
      </header>
      {state === "running" && <Waiting run={run} onCancel={onCancel} />}
      <ResultFailure failure={failure} />
      {degraded !== null && (
        <p className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <TriangleAlert size={16} aria-hidden /> {t("degraded", { ratio: degraded })}
        </p>
      )}
      {pictures.length > 0 && (
        <ul className={`grid gap-3 ${pictures.length > 1 ? "grid-cols-2" : ""}`}>
          {pictures.map((url, index) => (
            <li key={url}>
              <ResultPicture url={url} name={t("picture", { number: index + 1, model })} onEdit={onEdit} />
            </li>
          ))}
        </ul>
      )}
      <RunFacts run={run} />
    </article>
  );
}

function Waiting({ run: { job }, onCancel }: { run: PlaygroundRun; onCancel(): void }) {
  const { t } = useTranslation("playground");
  return (
    <>
      {job ? (
        <ProgressBar value={job.progress} className="flex flex-col gap-1.5">
          {({ percentage = 0, valueText }) => (
            <>
              <div className="flex justify-between">
                <Label>{t(job.status === "pending" ? "progress.pending" : "progress.running")}</Label>
                <span className="text-muted">{valueText}</span>
              </div>
              <div className="h-1.5 overflow-hidden rounded-full bg-sunken">
                <div
                  className="h-full rounded-full bg-accent-solid transition-[width]"
                  style={{ width: `${percentage}%` }}
                />
              </div>
            </>
          )}
        </ProgressBar>
      ) : (
        <Skeleton className="aspect-square w-full max-w-96" />
      )}
      <div>
        <Button icon={Ban} onPress={onCancel}>
          {t("cancelRun")}
        </Button>
      </div>
    </>
  );
}

/** Shows the options that took effect, the charge and the id of the request. */
function RunFacts({ run }: { run: PlaygroundRun }) {
  const { facts, state, requestId } = run;
  if (state === "running") return null;
  const words = facts ? [facts.size, facts.quality, facts.format, facts.background].filter(Boolean) : [];
  return (
    <footer className="flex flex-wrap items-center gap-x-4 gap-y-1 text-muted">
      {state === "done" && <Billed requestId={requestId} />}
      {words.length > 0 && <span>{words.join(" · ")}</span>}
      {requestId !== null && <RequestId id={requestId} />}
    </footer>
  );
}
