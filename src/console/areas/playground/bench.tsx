import { Code } from "lucide-react";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { FormProvider, type FieldValues, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { CodeSnippet } from "../../ui/text/code-snippet.tsx";
import type { GatewayCall } from "./gateway.ts";
import { snippetsOf } from "./snippets.ts";

interface BenchProps<Values extends FieldValues> {
  form: UseFormReturn<Values>;
  /** Called when the user presses the button, or Ctrl or Command with Enter anywhere in the form. */
  onSend(): void;
  /** The fields of the request, its price and its button. */
  fields: ReactNode;
  /** One card for each model. */
  results: readonly ReactNode[];
  /** Shown when there are no results yet. */
  noResults: string;
  /** The request that the button would send now. */
  call: GatewayCall | undefined;
  /** The earlier requests, in a `HistoryPanel`. */
  history: ReactNode;
}

/** The layout of a page of the playground: the request at the left, its results at the right, the history below. */
export function Bench<Values extends FieldValues>(props: BenchProps<Values>) {
  const { form, onSend, fields, results, noResults, call, history } = props;
  const { t } = useTranslation("playground");
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSend();
  };
  return (
    <>
      <div className="grid items-start gap-6 lg:grid-cols-[21rem_minmax(0,1fr)] xl:grid-cols-[26rem_minmax(0,1fr)]">
        <FormProvider {...form}>
          <form
            aria-label={t("request")}
            onSubmit={(event) => {
              event.preventDefault();
              onSend();
            }}
            onKeyDown={onKeyDown}
            className="flex min-w-0 flex-col gap-5 rounded-lg border border-line bg-surface p-4"
          >
            {fields}
          </form>
        </FormProvider>
        <section aria-label={t("results")} className="flex min-w-0 flex-col gap-4">
          {results.length === 0 && (
            <div className="rounded-lg border border-dashed border-line">
              <EmptyState>{noResults}</EmptyState>
            </div>
          )}
          <div className="flex flex-col gap-4 xl:flex-row xl:items-start">{results}</div>
          {call && <CallCode call={call} />}
        </section>
      </div>
      {history}
    </>
  );
}

/** Shows the code of a program that sends `call`, when the user asks for that code. */
function CallCode({ call }: { call: GatewayCall }) {
  const { t } = useTranslation("playground");
  const [isShown, setShown] = useState(false);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <Button kind="quiet" icon={Code} onPress={() => setShown(!isShown)} aria-expanded={isShown}>
          {t(isShown ? "code.hide" : "code.show")}
        </Button>
      </div>
      {isShown && <CodeSnippet label={t("code.show")} snippets={snippetsOf(call, location.origin)} />}
    </div>
  );
}
