import { useState } from "react";
import { FileTrigger } from "react-aria-components/FileTrigger";
import { Label } from "react-aria-components/Label";
import { TextArea } from "react-aria-components/TextArea";
import { TextField } from "react-aria-components/TextField";
import { useTranslation } from "react-i18next";
import { call, type Output } from "../../api/call.ts";
import { queryClient } from "../../api/queries.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Problem } from "../../ui/forms/form-problem.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { showToast } from "../../ui/overlay/toast.ts";
import { DifferenceTable } from "../../ui/table/difference-table.tsx";
import { Quoted } from "../../ui/text/quoted.tsx";
import { Status } from "../../ui/text/status.tsx";

type ImportResult = Output<"configuration.import">;

/** Reads a configuration and shows its changes. Applies them only after the user confirms. */
export function ImportDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation(["settings", "shell"]);
  const [yaml, setYaml] = useState("");
  const { result, problem, isPending, run, reset } = useImport();
  const count = result?.changes.length ?? 0;
  const change = (text: string) => {
    setYaml(text);
    reset();
  };
  const isReady = result !== null && !result.isApplied && count > 0;
  const footer = result?.isApplied ? (
    <Button kind="primary" onPress={onClose}>
      {t("shell:close")}
    </Button>
  ) : (
    <>
      <Button onPress={onClose}>{t("shell:cancel")}</Button>
      <Button
        kind="primary"
        isDisabled={yaml.trim() === "" || (result !== null && !isReady)}
        isPending={isPending}
        onPress={() => void run(yaml, !isReady)}
      >
        {isReady ? t("import.apply", { count }) : t("import.preview")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("import.title")} size="l" isOpen onClose={onClose} isAlert={isReady} footer={footer}>
      <div className="flex flex-col gap-4 pb-3">
        <p className="text-muted">{t("import.what")}</p>
        {!result?.isApplied && <YamlField yaml={yaml} onChange={change} />}
        {problem !== null && (
          <Problem>
            <Quoted label={t("shell:problem.configuration")}>{problem}</Quoted>
          </Problem>
        )}
        {result && <ImportChanges result={result} />}
      </div>
    </Dialog>
  );
}

function useImport() {
  const { t } = useTranslation("settings");
  const [result, setResult] = useState<ImportResult | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isPending, setPending] = useState(false);
  const reset = () => {
    setResult(null);
    setProblem(null);
  };
  const run = async (yaml: string, isDryRun: boolean) => {
    setPending(true);
    setProblem(null);
    try {
      const done = await call("configuration.import", { yaml, isDryRun });
      setResult(done);
      if (!done.isApplied) return;
      showToast(t("import.done", { count: done.changes.length }));
      await queryClient.invalidateQueries();
    } catch (error) {
      setResult(null);
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setPending(false);
    }
  };
  return { result, problem, isPending, run, reset };
}

function YamlField({ yaml, onChange }: { yaml: string; onChange(text: string): void }) {
  const { t } = useTranslation("settings");
  const choose = async (files: FileList | null) => {
    const file = files?.[0];
    if (file) onChange(await file.text());
  };
  return (
    <>
      <TextField value={yaml} onChange={onChange} className="flex flex-col gap-1.5">
        <Label className="font-medium">{t("import.yaml")}</Label>
        <TextArea
          rows={10}
          spellCheck="false"
          className="w-full rounded-md border border-line-strong bg-surface p-2.5 font-mono text-xs leading-5"
        />
      </TextField>
      <div>
        <FileTrigger
          acceptedFileTypes={[".yaml", ".yml", "application/yaml"]}
          onSelect={(files) => void choose(files)}
        >
          <Button>{t("import.file")}</Button>
        </FileTrigger>
      </div>
    </>
  );
}

const LEVELS = { create: "good", update: "warn", remove: "bad" } as const;

/** Lists the changes of an import and the secrets that it created. */
function ImportChanges({ result }: { result: Output<"configuration.import"> }) {
  const { t } = useTranslation("settings");
  const { changes, secrets } = result;
  return (
    <>
      {secrets.length > 0 && (
        <section className="flex flex-col gap-2 rounded-md bg-warn-soft p-3">
          <p className="text-warn">{t("import.secrets")}</p>
          <ul className="flex flex-col gap-1">
            {secrets.map(({ kind, id, secret }) => (
              <li key={`${kind} ${id}`} className="break-all">
                {id} <code className="font-mono text-xs">{secret}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      {changes.length === 0 && <p className="text-muted">{t("import.same")}</p>}
      <ul className="flex flex-col gap-4">
        {changes.map(({ kind, id, action, before, after }) => (
          <li key={`${kind} ${id}`} className="rounded-lg border border-line p-3">
            <p className="mb-2 flex flex-wrap items-center gap-2">
              <Status level={LEVELS[action]}>{t(`import.${action}`)}</Status>
              <span className="text-muted">{kind}</span>
              <span className="min-w-0 font-medium break-words">{id}</span>
            </p>
            <DifferenceTable before={before} after={after} />
          </li>
        ))}
      </ul>
    </>
  );
}
