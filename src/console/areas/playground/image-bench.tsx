import { Play } from "lucide-react";
import { useState, type ReactNode } from "react";
import { FormProvider, useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { CallCode } from "./call-code.tsx";
import { useHistory, type ImageEntry } from "./history.ts";
import { HistoryPanel } from "./history-panel.tsx";
import {
  EMPTY_FORM,
  imageCall,
  joinOptions,
  priceQuery,
  type ImageForm,
  type Reference,
} from "./image-call.ts";
import { ImageOptions } from "./image-options.tsx";
import { useImageRuns } from "./image-runs.ts";
import { ModelChoice, useChosenModels } from "./model-choice.tsx";
import type { ImageOptions as Options, PlaygroundModel } from "./models.ts";
import { PriceLine } from "./price-line.tsx";
import { References } from "./references.tsx";
import { RunCard } from "./run-card.tsx";
import { useSendKey } from "./send-key.ts";

/** Generates and edits pictures: the request at the left, what became of it at the right. */
export function ImageBench({ keyId, models }: { keyId: string; models: readonly PlaygroundModel[] }) {
  const chosen = useChosenModels(models);
  const form = useForm<ImageForm>({ defaultValues: EMPTY_FORM });
  const [references, setReferences] = useState<readonly Reference[]>([]);
  const history = useHistory();
  const { runs, start, open, cancel } = useImageRuns(keyId, history.save);
  const values = form.watch();
  const isReady = values.prompt.trim() !== "";
  const send = () => isReady && start(chosen, form.getValues(), references);
  const openEntry = (entry: ImageEntry) => {
    form.reset(entry.form);
    setReferences(entry.references);
    open(entry);
  };
  return (
    <>
      <div className="grid items-start gap-6 lg:grid-cols-[21rem_minmax(0,1fr)] xl:grid-cols-[26rem_minmax(0,1fr)]">
        <FormProvider {...form}>
          <RequestForm
            models={models}
            chosen={chosen}
            references={references}
            onReferences={setReferences}
            onSend={send}
          >
            <Sending keyId={keyId} chosen={chosen} values={values} isReady={isReady} onSend={send} />
          </RequestForm>
        </FormProvider>
        <Results
          runs={runs}
          onCancel={cancel}
          onEdit={(reference) => setReferences((before) => [...before, reference])}
          code={chosen[0] && <CallCode call={imageCall(chosen[0], values, references)} />}
        />
      </div>
      <HistoryPanel
        kind="image"
        history={history}
        onOpen={(entry) => entry.kind === "image" && openEntry(entry)}
      />
    </>
  );
}

function optionsOf(chosen: readonly PlaygroundModel[]): Options | null {
  const all = chosen.flatMap(({ image }) => (image ? [image] : []));
  const [first, ...others] = all;
  return first ? others.reduce(joinOptions, first) : null;
}

function RequestForm({
  models,
  chosen,
  references,
  onReferences,
  onSend,
  children,
}: {
  models: readonly PlaygroundModel[];
  chosen: readonly PlaygroundModel[];
  references: readonly Reference[];
  onReferences(references: readonly Reference[]): void;
  onSend(): void;
  children: ReactNode;
}) {
  const { t } = useTranslation("playground");
  const options = optionsOf(chosen);
  const onKeyDown = useSendKey(onSend);
  return (
    <form
      aria-label={t("request")}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
      onKeyDown={onKeyDown}
      className="flex min-w-0 flex-col gap-5 rounded-lg border border-line bg-surface p-4"
    >
      <ModelChoice models={models} chosen={chosen} />
      <TextField name="prompt" label={t("prompt")} lines={5} placeholder={t("prompt.example")} />
      {options && options.maxReferences > 0 && (
        <References
          references={references}
          onChange={onReferences}
          most={options.maxReferences}
          hasMask={options.hasMask}
        />
      )}
      {options && <ImageOptions options={options} hasReferences={references.length > 0} />}
      {children}
    </form>
  );
}

interface SendingProps {
  keyId: string;
  chosen: readonly PlaygroundModel[];
  values: ImageForm;
  isReady: boolean;
  onSend(): void;
}

/** The price and the button that spends it. */
function Sending({ keyId, chosen, values, isReady, onSend }: SendingProps) {
  const { t } = useTranslation("playground");
  return (
    <div className="sticky bottom-0 -mx-4 -mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-b-lg border-t border-line bg-surface px-4 py-3">
      <div className="min-w-0 flex-1" aria-live="polite">
        {chosen.map((model) => (
          <PriceLine
            key={model.id}
            keyId={keyId}
            model={model}
            query={priceQuery(model, values)}
            count={Number(values.count)}
            isNamed={chosen.length > 1}
          />
        ))}
      </div>
      <Button kind="primary" icon={Play} isDisabled={!isReady} onPress={onSend}>
        {t(values.isJob ? "submit.job" : "submit.image")}
      </Button>
    </div>
  );
}

function Results({
  runs,
  onCancel,
  onEdit,
  code,
}: {
  runs: ReturnType<typeof useImageRuns>["runs"];
  onCancel: ReturnType<typeof useImageRuns>["cancel"];
  onEdit(reference: Reference): void;
  code: ReactNode;
}) {
  const { t } = useTranslation("playground");
  return (
    <section aria-label={t("results")} className="flex min-w-0 flex-col gap-4">
      {runs.length === 0 && (
        <div className="rounded-lg border border-dashed border-line">
          <EmptyState>{t("results.none")}</EmptyState>
        </div>
      )}
      <div className="flex flex-col gap-4 xl:flex-row xl:items-start">
        {runs.map((run) => (
          <RunCard key={run.id} run={run} onCancel={() => onCancel(run)} onEdit={onEdit} />
        ))}
      </div>
      {code}
    </section>
  );
}
