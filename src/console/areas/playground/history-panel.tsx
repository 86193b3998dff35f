import { Trash2, X } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "../../ui/forms/button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { Card } from "../../ui/page/card.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { HistoryEntry, useHistory } from "./history.ts";

interface HistoryPanelProps {
  kind: HistoryEntry["kind"];
  history: ReturnType<typeof useHistory>;
  onOpen(entry: HistoryEntry): void;
}

/** Lists earlier requests of this browser. Opening a request fills in the form again. */
export function HistoryPanel({ kind, history, onOpen }: HistoryPanelProps) {
  const { t } = useTranslation("playground");
  const [isClearing, setClearing] = useState(false);
  const entries = history.entries.filter((entry) => entry.kind === kind);
  if (entries.length === 0) return null;
  return (
    <Card
      title={t("history")}
      about={t("history.about")}
      actions={
        <Button kind="quiet" icon={Trash2} onPress={() => setClearing(true)}>
          {t("history.clear")}
        </Button>
      }
    >
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-4">
        {entries.map((entry) => (
          <li key={entry.id} className="flex min-w-0 items-stretch rounded-lg border border-line">
            <EntryButton entry={entry} onOpen={() => onOpen(entry)} />
            <IconButton
              icon={X}
              label={t("history.remove", { title: titleOf(entry) })}
              onPress={() => history.remove(entry.id)}
            />
          </li>
        ))}
      </ul>
      <ConfirmDialog
        title={t("history.clear")}
        consequences={t("history.clear.consequences", { count: history.entries.length })}
        confirmLabel={t("history.clear")}
        isOpen={isClearing}
        onClose={() => setClearing(false)}
        onConfirm={async () => history.clear()}
      />
    </Card>
  );
}

function EntryButton({ entry, onOpen }: { entry: HistoryEntry; onOpen(): void }) {
  const picture = entry.kind === "image" ? entry.runs.flatMap(({ pictures }) => pictures)[0] : undefined;
  const models = entry.kind === "image" ? entry.runs : entry.talks;
  return (
    <AriaButton
      onPress={onOpen}
      className="flex min-w-0 flex-1 items-center gap-3 rounded-l-lg p-2 text-left hover:bg-hover"
    >
      {picture !== undefined && <Thumbnail url={picture} />}
      <span className="flex min-w-0 flex-1 flex-col gap-0.5">
        <span className="line-clamp-2 break-words">{titleOf(entry)}</span>
        <span className="truncate text-xs text-muted">
          {models.map(({ model }) => model).join(" · ")} · <Time at={new Date(entry.at).toISOString()} />
        </span>
      </span>
    </AriaButton>
  );
}

/** Shows the picture of an entry; nothing when the picture is no longer stored. */
function Thumbnail({ url }: { url: string }) {
  const [isGone, setGone] = useState(false);
  if (isGone) return null;
  return (
    <img
      src={url}
      alt=""
      loading="lazy"
      onError={() => setGone(true)}
      className="size-14 shrink-0 rounded bg-sunken object-cover"
    />
  );
}

function titleOf(entry: HistoryEntry): string {
  if (entry.kind === "image") return entry.form.prompt;
  return entry.talks[0]?.turns[0]?.text ?? "";
}
