import { useEffect, useRef, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Code } from "../../ui/text/code.tsx";
import { formatCount, formatDuration } from "../../ui/text/format.ts";
import type { Turn } from "./conversation.ts";
import { Billed, RequestId, ResultFailure, ResultState } from "./result-parts.tsx";
import type { TalkReply, Talk } from "./talk.ts";

/** Shows a conversation with one model, including the last reply while it arrives. */
export function Transcript({ talk: { model, turns, reply } }: { talk: Talk }) {
  const { t } = useTranslation("playground");
  const scroller = useRef<HTMLOListElement>(null);
  useEffect(() => {
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [turns]);
  return (
    <article
      aria-label={t("result.of", { model })}
      aria-busy={reply?.state === "running"}
      className="flex min-w-0 flex-1 flex-col rounded-lg border border-line bg-surface"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-3 pb-2">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{model}</h2>
        {reply && <ResultState result={reply} />}
      </header>
      <ol
        ref={scroller}
        tabIndex={0}
        aria-label={t("transcript")}
        className="flex max-h-[65dvh] flex-col gap-4 overflow-y-auto px-4 py-2 -outline-offset-2!"
      >
        {turns.map((turn, index) => (
          // Turns are added only at the end, so the index identifies a turn.
          <TurnItem key={index} turn={turn} />
        ))}
      </ol>
      {reply && <ReplyFacts reply={reply} />}
    </article>
  );
}

function TurnItem({ turn: { role, text, thinking } }: { turn: Turn }) {
  const { t } = useTranslation("playground");
  return (
    <SaidItem speaker={t(`role.${role}`)} role={role} text={text}>
      {thinking !== undefined && (
        <details className="rounded-lg border border-line px-3 py-2 text-muted">
          <summary className="cursor-pointer font-medium">{t("thinking")}</summary>
          <p className="mt-2 break-words whitespace-pre-wrap">{thinking}</p>
        </details>
      )}
    </SaidItem>
  );
}

/** Shows the text of one speaker. The model's text has no frame. */
export function SaidItem({
  speaker,
  role,
  text,
  children,
}: {
  speaker: string;
  role: Turn["role"];
  text: string;
  children?: ReactNode;
}) {
  const look = role === "user" ? "rounded-lg bg-sunken px-3 py-2" : "";
  return (
    <li className="flex flex-col gap-1">
      <span className="text-xs font-medium text-muted">{speaker}</span>
      {children}
      <p className={`break-words whitespace-pre-wrap ${look}`} data-role={role}>
        {isJson(text) ? <Code code={text} language="json" /> : text}
      </p>
    </li>
  );
}

/** True when a text begins like a JSON object or list. Examples are a tool's arguments and a prompt that was cut. */
function isJson(text: string): boolean {
  return /^\s*(?:\{\s*["}]|\[\s*["[{])/.test(text);
}

/** Shows facts about a reply: failure, tokens, charge, time to the first text, stop reason and request id. */
function ReplyFacts({ reply }: { reply: TalkReply }) {
  const { t } = useTranslation("playground");
  const { state, requestId, input, output, stop, failure, firstTextMs } = reply;
  const isCharged = state === "done" || state === "stopped";
  return (
    <footer className="flex flex-col gap-2 border-t border-line px-4 py-3 text-muted">
      <ResultFailure failure={failure} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        {input !== null && <span>{t("tokens.input", { tokens: formatCount(input) })}</span>}
        {output !== null && <span>{t("tokens.output", { tokens: formatCount(output) })}</span>}
        {isCharged && <Billed requestId={requestId} />}
        {firstTextMs !== null && <span>{t("firstText", { time: formatDuration(firstTextMs) })}</span>}
        {stop !== null && <code className="text-xs">{stop}</code>}
        {requestId !== null && <RequestId id={requestId} />}
      </div>
    </footer>
  );
}
