import { Play } from "lucide-react";
import { useState } from "react";
import { useForm, useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { Bench } from "./bench.tsx";
import { PlaygroundFrame } from "./frame.tsx";
import { HistoryPanel } from "./history-panel.tsx";
import { useHistory, type ImageEntry } from "./history.ts";
import {
  EMPTY_FORM,
  imageCall,
  joinOptions,
  priceQuery,
  type ImageForm,
  type Reference,
} from "./image-call.ts";
import { ImageOptionFields } from "./image-options.tsx";
import { useImageRuns } from "./image-runs.ts";
import { ModelChoice, useChosenModels } from "./model-choice.tsx";
import type { ImageOptions, PlaygroundModel } from "./models.ts";
import { useOpenedPrompt } from "./opened-prompt.ts";
import { PriceLine } from "./price-line.tsx";
import { ReferenceList } from "./references.tsx";
import { RunCard } from "./run-card.tsx";

/** The page that generates and edits pictures. */
export default function PlaygroundPage() {
  return (
    <PlaygroundFrame type="image">
      {(keyId, models) => <ImageBench key={keyId} keyId={keyId} models={models} />}
    </PlaygroundFrame>
  );
}

function ImageBench({ keyId, models }: { keyId: string; models: readonly PlaygroundModel[] }) {
  const { t } = useTranslation("playground");
  const chosen = useChosenModels(models);
  const opened = useOpenedPrompt();
  const form = useForm<ImageForm>({ defaultValues: { ...EMPTY_FORM, prompt: opened?.message ?? "" } });
  const [references, setReferences] = useState<readonly Reference[]>([]);
  const history = useHistory();
  const { runs, start, open, cancel } = useImageRuns(keyId, history.save);
  const values = form.watch();
  const isReady = values.prompt.trim() !== "";
  const send = () => {
    if (isReady) start(chosen, form.getValues(), references);
  };
  const openEntry = (entry: ImageEntry) => {
    form.reset(entry.form);
    setReferences(entry.references);
    open(entry);
  };
  return (
    <Bench
      form={form}
      onSend={send}
      fields={
        <>
          <ModelChoice models={models} chosen={chosen} />
          <RequestFields chosen={chosen} references={references} onReferences={setReferences} />
          <Sending keyId={keyId} chosen={chosen} isReady={isReady} onSend={send} />
        </>
      }
      results={runs.map((run) => (
        <RunCard
          key={run.id}
          run={run}
          onCancel={() => cancel(run)}
          onEdit={(reference) => setReferences((before) => [...before, reference])}
        />
      ))}
      noResults={t("results.none")}
      call={chosen[0] && imageCall(chosen[0], values, references)}
      history={
        <HistoryPanel
          kind="image"
          history={history}
          onOpen={(entry) => entry.kind === "image" && openEntry(entry)}
        />
      }
    />
  );
}

function optionsOf(chosen: readonly PlaygroundModel[]): ImageOptions | null {
  const all = chosen.flatMap(({ image }) => (image ? [image] : []));
  const [first, ...others] = all;
  return first ? others.reduce(joinOptions, first) : null;
}

function RequestFields({
  chosen,
  references,
  onReferences,
}: {
  chosen: readonly PlaygroundModel[];
  references: readonly Reference[];
  onReferences(references: readonly Reference[]): void;
}) {
  const { t } = useTranslation("playground");
  const options = optionsOf(chosen);
  return (
    <>
      <TextField name="prompt" label={t("prompt")} lines={5} placeholder={t("prompt.example")} />
      {options && options.maxReferences > 0 && (
        <ReferenceList
          references={references}
          onChange={onReferences}
          most={options.maxReferences}
          hasMask={options.hasMask}
        />
      )}
      {options && <ImageOptionFields options={options} hasReferences={references.length > 0} />}
    </>
  );
}

interface SendingProps {
  keyId: string;
  chosen: readonly PlaygroundModel[];
  isReady: boolean;
  onSend(): void;
}

/** Shows the price and the button that sends the request. */
function Sending({ keyId, chosen, isReady, onSend }: SendingProps) {
  const { t } = useTranslation("playground");
  const values = useFormContext<ImageForm>().watch();
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
