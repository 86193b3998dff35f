import { Eraser, Send, Square } from "lucide-react";
import { useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { Bench } from "./bench.tsx";
import { EMPTY_TEXT_FORM, textCall, type Protocol, type TextForm, type Turn } from "./conversation.ts";
import { PlaygroundFrame } from "./frame.tsx";
import { HistoryPanel } from "./history-panel.tsx";
import { useHistory, type TextEntry } from "./history.ts";
import { newLocalId } from "./local-id.ts";
import { ModelChoice, useChosenModels } from "./model-choice.tsx";
import type { PlaygroundModel } from "./models.ts";
import { useOpenedPrompt, type OpenedPrompt } from "./opened-prompt.ts";
import { PriceLine } from "./price-line.tsx";
import { useTalks, type Talk } from "./talk.ts";
import { Transcript } from "./transcript.tsx";

/** The values of the form: the options of the conversation, and the next message. */
type TextBenchForm = TextForm & { message: string };

export function ChatPage() {
  return <TextPage protocol="chat" />;
}

export function MessagesPage() {
  return <TextPage protocol="messages" />;
}

function TextPage({ protocol }: { protocol: Protocol }) {
  return (
    <PlaygroundFrame type="text">
      {(keyId, models) => <TextBench key={keyId} keyId={keyId} protocol={protocol} models={models} />}
    </PlaygroundFrame>
  );
}

interface TextBenchProps {
  keyId: string;
  protocol: Protocol;
  models: readonly PlaygroundModel[];
}

function TextBench({ keyId, protocol, models }: TextBenchProps) {
  const { t } = useTranslation("playground");
  const chosen = useChosenModels(models);
  const opened = useOpenedPrompt();
  const form = useForm<TextBenchForm>({
    defaultValues: { ...EMPTY_TEXT_FORM, message: "", ...formFor(opened) },
  });
  const bench = useTextBench({ keyId, protocol, form, chosen, earlier: opened?.turns ?? [] });
  const { talks, history, submit, stop, open, begin } = bench;
  const values = form.watch();
  const [first] = chosen;
  const earlier = talks.find(({ model }) => model === first?.id)?.turns ?? [];
  const next: Turn[] = values.message.trim() === "" ? [] : [{ role: "user", text: values.message }];
  return (
    <Bench
      form={form}
      onSend={submit}
      fields={
        <>
          <ModelChoice models={models} chosen={chosen} />
          <TextFields />
          <div>
            {chosen.map((model) => (
              <PriceLine
                key={model.id}
                keyId={keyId}
                model={model}
                query={{ model: model.id }}
                count={1}
                isNamed={chosen.length > 1}
              />
            ))}
          </div>
          <Buttons
            isRunning={isRunning(talks)}
            hasTalk={talks.length > 0}
            onSend={submit}
            onStop={stop}
            onBegin={begin}
          />
        </>
      }
      results={talks.map((talk) => (
        <Transcript key={talk.model} talk={talk} />
      ))}
      noResults={t("talks.none")}
      call={first && textCall(protocol, first, formOf(values), [...earlier, ...next])}
      history={
        <HistoryPanel
          kind={protocol}
          history={history}
          onOpen={(kept) => kept.kind !== "image" && open(kept)}
        />
      }
    />
  );
}

/** Returns the conversations of the page and their actions. The history stores the conversations after each reply. */
function useTextBench({
  keyId,
  protocol,
  form,
  chosen,
  earlier,
}: Pick<TextBenchProps, "keyId" | "protocol"> & {
  form: UseFormReturn<TextBenchForm>;
  chosen: readonly PlaygroundModel[];
  /** The turns before this page was opened. */
  earlier: readonly Turn[];
}) {
  const history = useHistory();
  const [entry, setEntry] = useState(newEntry);
  const { talks, reset, send, stop } = useTalks({
    keyId,
    protocol,
    begun: earlier.length === 0 ? [] : chosen.map(({ id }) => ({ model: id, turns: earlier, reply: null })),
    onEnd: (talks) =>
      history.save({
        ...entry,
        kind: protocol,
        keyId,
        form: formOf(form.getValues()),
        talks: talks.map(kept),
      }),
  });
  return {
    talks,
    history,
    stop,
    submit() {
      const text = form.getValues("message");
      if (isRunning(talks) || text.trim() === "") return;
      send(chosen, formOf(form.getValues()), text);
      form.setValue("message", "");
    },
    open({ id, at, form: fields, talks }: TextEntry) {
      form.reset({ ...fields, message: "" });
      setEntry({ id, at });
      reset(talks.map(({ model, turns }) => ({ model, turns, reply: null })));
    },
    begin() {
      setEntry(newEntry());
      reset([]);
    },
  };
}

function newEntry() {
  return { id: newLocalId(), at: Date.now() };
}

function isRunning(talks: readonly Talk[]): boolean {
  return talks.some(({ reply }) => reply?.state === "running");
}

/** Returns the form's values from a prompt that another page has passed. */
function formFor(opened: OpenedPrompt | null): Partial<TextBenchForm> {
  return opened ? { ...formOf(opened), message: opened.message } : {};
}

function formOf({ system, maxTokens, temperature }: TextForm): TextForm {
  return { system, maxTokens, temperature };
}

function kept({ model, turns }: Talk): TextEntry["talks"][number] {
  return { model, turns };
}

/** The fields for the options of the conversation and for the next message. */
function TextFields() {
  const { t } = useTranslation("playground");
  return (
    <>
      <TextField name="system" label={t("system")} lines={2} help={t("system.help")} />
      <div className="grid grid-cols-2 gap-3">
        <NumberField name="maxTokens" label={t("maxTokens")} minimum={1} placeholder={t("default")} />
        <NumberField
          name="temperature"
          label={t("temperature")}
          minimum={0}
          maximum={2}
          placeholder={t("default")}
        />
      </div>
      <TextField name="message" label={t("message")} lines={4} placeholder={t("message.example")} />
    </>
  );
}

interface ButtonsProps {
  isRunning: boolean;
  hasTalk: boolean;
  onSend(): void;
  onStop(): void;
  onBegin(): void;
}

function Buttons({ isRunning, hasTalk, onSend, onStop, onBegin }: ButtonsProps) {
  const { t } = useTranslation("playground");
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {hasTalk && !isRunning && (
        <Button kind="quiet" icon={Eraser} onPress={onBegin}>
          {t("conversation.new")}
        </Button>
      )}
      {/* The same button sends and stops, so it keeps the focus. Releasing the pressed key does not stop the reply. */}
      <Button
        kind={isRunning ? "plain" : "primary"}
        icon={isRunning ? Square : Send}
        onPress={isRunning ? onStop : onSend}
      >
        {t(isRunning ? "stop" : "send")}
      </Button>
    </div>
  );
}
