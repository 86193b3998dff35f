import { useRef, useState } from "react";
import {
  streamReply,
  textCall,
  type Protocol,
  type ReplyDelta,
  type TextForm,
  type Turn,
} from "./conversation.ts";
import { GatewayFailure } from "./gateway.ts";
import type { PlaygroundModel } from "./models.ts";

/** The conversation with one model, and the state of its last reply. */
export interface Talk {
  model: string;
  turns: readonly Turn[];
  reply: TalkReply | null;
}

export interface TalkReply {
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

const NEW_REPLY: Omit<TalkReply, "startedAt"> = {
  state: "running",
  firstTextMs: null,
  tookMs: null,
  requestId: null,
  input: null,
  output: null,
  stop: null,
  failure: null,
};

interface TalksProps {
  keyId: string;
  protocol: Protocol;
  /** The conversations with which the page begins. */
  begun: readonly Talk[];
  /** Called after each reply. */
  onEnd(talks: readonly Talk[]): void;
}

/** Returns conversations with one or several models, and their actions. */
export function useTalks({ keyId, protocol, begun, onEnd }: TalksProps) {
  const [talks, setTalks] = useState(begun);
  const abort = useRef<AbortController | null>(null);
  /**
   * Running replies write to this object. When a message is sent, or a conversation is opened or cleared, a new object
   * replaces it, so that older replies no longer change the page.
   */
  const current = useRef<{ talks: readonly Talk[] }>({ talks: [] });

  const reset = (next: readonly Talk[]) => {
    abort.current?.abort();
    current.current = { talks: next };
    setTalks(next);
  };

  const send = (models: readonly PlaygroundModel[], form: TextForm, text: string) => {
    const question: Turn = { role: "user", text };
    const next = models.map(({ id }): Talk => {
      const earlier = talks.find(({ model }) => model === id)?.turns ?? [];
      return { model: id, turns: [...earlier, question], reply: { ...NEW_REPLY, startedAt: Date.now() } };
    });
    reset(next);
    const controller = new AbortController();
    abort.current = controller;
    const ongoing = current.current;
    for (const model of models) {
      const update = (change: (talk: Talk) => Talk) => {
        ongoing.talks = ongoing.talks.map((talk) => (talk.model === model.id ? change(talk) : talk));
        if (current.current === ongoing) setTalks(ongoing.talks);
      };
      const turns = next.find((talk) => talk.model === model.id)?.turns ?? [];
      const call = textCall(protocol, model, form, turns);
      void converse(keyId, call, controller.signal, update).then(() => onEnd(ongoing.talks));
    }
  };
  return { talks, reset, send, stop: () => abort.current?.abort() };
}

type Update = (change: (talk: Talk) => Talk) => void;

/** Streams one reply into its conversation. Never throws. */
async function converse(
  keyId: string,
  call: ReturnType<typeof textCall>,
  signal: AbortSignal,
  update: Update,
): Promise<void> {
  const reply = (some: Partial<TalkReply>) =>
    update((talk) => ({ ...talk, reply: talk.reply && { ...talk.reply, ...some } }));
  try {
    await streamReply(keyId, call, signal, {
      onStart: (requestId) => reply({ requestId }),
      onDelta: (delta) => update((talk) => withDelta(talk, delta)),
    });
    reply({ state: "done" });
  } catch (error) {
    if (signal.aborted) reply({ state: "stopped" });
    else {
      const { code = "", requestId = null } = error instanceof GatewayFailure ? error : {};
      const message = error instanceof Error ? error.message : String(error);
      reply({ state: "failed", failure: { code, message }, ...(requestId !== null && { requestId }) });
    }
  }
  update((talk) => ({
    ...talk,
    reply: talk.reply && { ...talk.reply, tookMs: Date.now() - talk.reply.startedAt },
  }));
}

function withDelta(talk: Talk, { text = "", thinking = "", input, output, stop }: ReplyDelta): Talk {
  const last = talk.turns.at(-1);
  const written: Turn = last?.role === "assistant" ? last : { role: "assistant", text: "" };
  const before = last?.role === "assistant" ? talk.turns.slice(0, -1) : talk.turns;
  const hasContent = text !== "" || thinking !== "";
  const turn = {
    ...written,
    text: written.text + text,
    ...(thinking !== "" && { thinking: (written.thinking ?? "") + thinking }),
  };
  const { reply } = talk;
  return {
    ...talk,
    turns: hasContent ? [...before, turn] : talk.turns,
    reply: reply && {
      ...reply,
      firstTextMs: reply.firstTextMs ?? (hasContent ? Date.now() - reply.startedAt : null),
      input: input ?? reply.input,
      output: output ?? reply.output,
      stop: stop ?? reply.stop,
    },
  };
}
