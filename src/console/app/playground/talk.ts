import { useRef, useState } from "react";
import {
  streamAnswer,
  textCall,
  type Piece,
  type Protocol,
  type TextForm,
  type Turn,
} from "./conversation.ts";
import { GatewayFailure } from "./gateway.ts";
import type { PlaygroundModel } from "./models.ts";

/** The conversation with one model, and what is known of its last answer. */
export interface Talk {
  model: string;
  turns: readonly Turn[];
  answer: Answer | null;
}

export interface Answer {
  state: "running" | "done" | "stopped" | "failed";
  startedAt: number;
  firstTextMs: number | null;
  tookMs: number | null;
  requestId: string | null;
  input: number | null;
  output: number | null;
  stop: string | null;
  failure: { code: string; message: string } | null;
}

const NEW_ANSWER: Omit<Answer, "startedAt"> = {
  state: "running",
  firstTextMs: null,
  tookMs: null,
  requestId: null,
  input: null,
  output: null,
  stop: null,
  failure: null,
};

/** Conversations with one model or several at once; `onEnd` is called after each answer. */
export function useTalks(keyId: string, protocol: Protocol, onEnd: (talks: readonly Talk[]) => void) {
  const [talks, setTalks] = useState<readonly Talk[]>([]);
  const abort = useRef<AbortController | null>(null);
  /** What the answers under way are written to; an opened or cleared conversation is another one. */
  const current = useRef<{ talks: readonly Talk[] }>({ talks: [] });

  const show = (next: readonly Talk[]) => {
    abort.current?.abort();
    current.current = { talks: next };
    setTalks(next);
  };

  const send = (models: readonly PlaygroundModel[], form: TextForm, text: string) => {
    const asked: Turn = { role: "user", text };
    const next = models.map(({ id }): Talk => {
      const earlier = talks.find(({ model }) => model === id)?.turns ?? [];
      return { model: id, turns: [...earlier, asked], answer: { ...NEW_ANSWER, startedAt: Date.now() } };
    });
    show(next);
    const controller = new AbortController();
    abort.current = controller;
    const place = current.current;
    for (const model of models) {
      const update = (change: (talk: Talk) => Talk) => {
        place.talks = place.talks.map((talk) => (talk.model === model.id ? change(talk) : talk));
        if (current.current === place) setTalks(place.talks);
      };
      const turns = next.find((talk) => talk.model === model.id)?.turns ?? [];
      const call = textCall(protocol, model, form, turns);
      void converse(keyId, call, controller.signal, update).then(() => onEnd(place.talks));
    }
  };
  return { talks, show, send, stop: () => abort.current?.abort() };
}

type Update = (change: (talk: Talk) => Talk) => void;

/** Streams one answer into its conversation. Never throws. */
async function converse(
  keyId: string,
  call: ReturnType<typeof textCall>,
  signal: AbortSignal,
  update: Update,
): Promise<void> {
  const answer = (some: Partial<Answer>) =>
    update((talk) => ({ ...talk, answer: talk.answer && { ...talk.answer, ...some } }));
  try {
    await streamAnswer(keyId, call, signal, {
      began: (requestId) => answer({ requestId }),
      came: (piece) => update((talk) => withPiece(talk, piece)),
    });
    answer({ state: "done" });
  } catch (error) {
    if (signal.aborted) answer({ state: "stopped" });
    else {
      const { code = "", requestId = null } = error instanceof GatewayFailure ? error : {};
      const message = error instanceof Error ? error.message : String(error);
      answer({ state: "failed", failure: { code, message }, ...(requestId !== null && { requestId }) });
    }
  }
  update((talk) => ({
    ...talk,
    answer: talk.answer && { ...talk.answer, tookMs: Date.now() - talk.answer.startedAt },
  }));
}

function withPiece(talk: Talk, { text = "", thinking = "", input, output, stop }: Piece): Talk {
  const last = talk.turns.at(-1);
  const answered: Turn = last?.role === "assistant" ? last : { role: "assistant", text: "" };
  const before = last?.role === "assistant" ? talk.turns.slice(0, -1) : talk.turns;
  const hasContent = text !== "" || thinking !== "";
  const turn = {
    ...answered,
    text: answered.text + text,
    ...(thinking !== "" && { thinking: (answered.thinking ?? "") + thinking }),
  };
  const { answer } = talk;
  return {
    ...talk,
    turns: hasContent ? [...before, turn] : talk.turns,
    answer: answer && {
      ...answer,
      firstTextMs: answer.firstTextMs ?? (hasContent ? Date.now() - answer.startedAt : null),
      input: input ?? answer.input,
      output: output ?? answer.output,
      stop: stop ?? answer.stop,
    },
  };
}
