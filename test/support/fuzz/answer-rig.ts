import { readRequest as readEmbeddings } from "../../../src/dialects/embeddings/index.ts";
import type { TextDialectName } from "../../../src/dialects/name.ts";
import type { LedgerEntry } from "../../../src/domain/ledger.ts";
import type { EmbeddingModel, ReasoningControl, TextModel } from "../../../src/domain/model.ts";
import { UpstreamError } from "../../../src/domain/upstream-error.ts";
import { handleEmbeddings } from "../../../src/gateway/embeddings.ts";
import type { EmbeddingUpstream, TextResponse, TextUpstream } from "../../../src/gateway/upstreams.ts";
import { Health } from "../../../src/gateway/routing/health.ts";
import { handleText } from "../../../src/gateway/text.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { seeded } from "../kill-rounds.ts";
import { plainCore, type PlainCore } from "../plain-core.ts";
import { MAX_OUTPUT, PRICE, problemOfBook, problemOfCharge, problemOfFailure } from "./answer-judge.ts";
import { mutateAnswer, type Extent } from "./answer-mutations.ts";
import { TEXT_CASES } from "./answer-requests.ts";
import type { Answer, Answers } from "./answers.ts";
import { Choices } from "./values.ts";

/** A core whose vendors send randomly changed responses. */
export interface AnswerRig {
  /** Serves the request with this number. Returns a description of a fault in its result, or null. */
  send(seed: number, index: number, extent?: Extent): Promise<string | null>;
  /** Ends the rig. Returns a description of the amounts that are still held, or null. */
  end(): Promise<string | null>;
  /** Number of outcomes by caller, vendor and kind. */
  outcomes: ReadonlyMap<string, number>;
}

/** Longer than any response takes on a busy machine. */
const STALL_MS = 20_000;
const BUDGET = 10n ** 12n;

const TEXT_MODEL: TextModel = {
  id: "m",
  type: "chat",
  displayName: "M",
  ownedBy: "us",
  created: 0,
  isRetired: false,
  defaultOutputTokens: 100,
  maxOutputTokens: MAX_OUTPUT,
  modalities: { input: ["text"], output: ["text"] },
  allowedFeatures: ["web_search"],
};
const EMBEDDING_MODEL: EmbeddingModel = {
  id: "m",
  type: "embedding",
  displayName: "M",
  ownedBy: "us",
  created: 0,
  isRetired: false,
  dimensions: 4,
};
const DIALECTS = ["chat", "messages", "responses", "native"] as const;

export function openAnswerRig(answers: Answers): AnswerRig {
  const vendor: Vendor = {
    text: { dialect: "chat", send: never },
    embedding: { embed: never },
  };
  const open = (model: TextModel | EmbeddingModel) => openCore(vendor, model);
  const reasoning = (control: ReasoningControl) => open({ ...TEXT_MODEL, reasoning: control });
  const effort = reasoning("effort");
  const cores = {
    plain: open(TEXT_MODEL),
    embeddings: open(EMBEDDING_MODEL),
    chat: effort,
    responses: effort,
    messages: reasoning("adaptive"),
    native: reasoning("level"),
  };
  const outcomes = new Map<string, number>();
  return {
    async send(seed, index, extent) {
      const choices = new Choices(seeded(seed * 1_000_003 + index));
      const dice = { choices, extent: extent ?? (choices.once(3) ? "usage" : "anything") };
      const trial = choices.once(12)
        ? tryEmbedding(cores.embeddings, answers.embeddings, vendor, dice)
        : tryText(cores, answers, vendor, dice);
      const stalled = Bun.sleep(STALL_MS).then((): Trial => ({ name: "stall", problem: "no end" }));
      const { name, problem } = await Promise.race([trial, stalled]);
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
      return problem && `${index} ${name}: ${problem}`;
    },
    outcomes,
    async end() {
      const all = await Promise.all(
        [...new Set(Object.values(cores))].map((plain) => plain.isAllGivenBack()),
      );
      return all.every(Boolean) ? null : "money is still held";
    },
  };
}

/** The vendor of all cores. Its response differs for each request. */
interface Vendor {
  text: TextUpstream;
  embedding: EmbeddingUpstream;
}

function openCore(vendor: Vendor, model: TextModel | EmbeddingModel): PlainCore {
  const upstream: TextUpstream = {
    get dialect() {
      return vendor.text.dialect;
    },
    send: (call) => vendor.text.send(call),
  };
  const plain = plainCore({ model, price: PRICE, budget: BUDGET, text: [upstream] });
  plain.core.upstreams = { ...plain.core.upstreams, embedding: () => vendor.embedding };
  return plain;
}

/**
 * Resets the core's health, so that earlier responses do not affect the next request. Returns the number of journal
 * records so far.
 */
function renew({ core, journal }: PlainCore): number {
  core.failover = { ...core.failover, health: new Health(systemClock), maxAttempts: 1 };
  return journal.records.length;
}

function never(): never {
  throw new Error("no answer was chosen");
}

interface Trial {
  name: string;
  problem: string | null;
}

interface Dice {
  choices: Choices;
  extent: Extent;
}

async function tryText(
  cores: Readonly<Record<TextDialectName | "plain", PlainCore>>,
  answers: Answers,
  vendor: Vendor,
  { choices, extent }: Dice,
): Promise<Trial> {
  const caller = choices.pick(DIALECTS);
  const { payload, isSearching } = choices.pick(TEXT_CASES[caller]);
  const speaks = isSearching || payload.parsed.choices > 1 ? caller : choices.pick(DIALECTS);
  const plain = choices.once(2) ? cores.plain : cores[speaks];
  const from = renew(plain);
  const { isStream } = payload.parsed;
  const comesAsStream = isStream && !choices.once(10);
  const fitting = answers[speaks].filter((answer) => answer.isStream === comesAsStream);
  const chunks = mutateAnswer(choices.pick(fitting), extent, choices);
  const isBroken = extent === "anything" && choices.once(6);
  const leavesAfter = extent === "anything" && isStream && choices.once(15) ? choices.below(4) : null;
  const response = (): TextResponse =>
    comesAsStream
      ? { kind: "stream", stream: streamOf(chunks, isBroken) }
      : { kind: "whole", text: Buffer.concat(chunks).toString() };
  vendor.text = { dialect: speaks, send: async () => response() };
  const client = new AbortController();
  const context = plain.request(client.signal);
  const kind = `${caller} of ${speaks}, ${isStream ? "stream" : "whole"}`;
  try {
    const outcome = await handleText(plain.core, context, payload);
    if (outcome.kind === "whole") {
      const problem =
        problemOfCharge(chargesOf(plain, from), payload) ??
        problemOfBook(chargesOf(plain, from), caller, outcome.text, false);
      return { name: kind, problem };
    }
    const text = await readBody(outcome.body, client, leavesAfter);
    const ended = await outcome.ended;
    const problem = problemOfCharge(chargesOf(plain, from), payload);
    const isComplete = ended === null && !client.signal.aborted;
    const book = isComplete ? problemOfBook(chargesOf(plain, from), caller, text, true) : null;
    return { name: `${kind}${isComplete ? "" : " cut"}`, problem: problem ?? book };
  } catch (error) {
    return { name: `${kind} refused`, problem: problemOfFailure(chargesOf(plain, from), error) };
  } finally {
    context.grant.release();
  }
}

async function readBody(
  body: ReadableStream<Uint8Array>,
  client: AbortController,
  leavesAfter: number | null,
): Promise<string> {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  for (let reads = 0; ; reads += 1) {
    if (reads === leavesAfter) {
      client.abort();
      await reader.cancel();
      break;
    }
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
  }
  return Buffer.concat(pieces).toString();
}

function streamOf(chunks: readonly Uint8Array[], isBroken: boolean): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        const chunk = chunks[next++];
        if (chunk) controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
        else if (isBroken) controller.error(new Error("reset"));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function tryEmbedding(
  plain: PlainCore,
  answers: readonly Answer[],
  vendor: Vendor,
  { choices, extent }: Dice,
): Promise<Trial> {
  const isBase64 = choices.once(3);
  const body = { model: "m", input: ["one", "two"], ...(isBase64 && { encoding_format: "base64" }) };
  const payload = readEmbeddings(Buffer.from(JSON.stringify(body)));
  const isOther = choices.once(3);
  const from = renew(plain);
  vendor.embedding = {
    embed: async () => {
      if (isOther) return vectorsOf(choices);
      const text = Buffer.concat(mutateAnswer(choices.pick(answers), extent, choices)).toString();
      try {
        return { kind: "whole", text, parsed: JSON.parse(text), restore: String };
      } catch {
        throw new UpstreamError("broken", "no JSON");
      }
    },
  };
  const name = `embeddings of ${isOther ? "native" : "chat"}`;
  try {
    const { text } = await handleEmbeddings(plain.core, plain.request(), payload);
    const problem =
      problemOfCharge(chargesOf(plain, from), payload) ??
      problemOfBook(chargesOf(plain, from), "embeddings", text, false);
    return { name, problem };
  } catch (error) {
    return { name: `${name} refused`, problem: problemOfFailure(chargesOf(plain, from), error) };
  }
}

/** Returns vectors as a provider makes them from another protocol's response. */
function vectorsOf(choices: Choices) {
  const vectors = Array.from({ length: choices.pick([2, 2, 2, 2, 0, 1, 3]) }, () =>
    choices.pick([[0.5, 0.5], [0, 0], [1e308, 1e308], [], [-1]]),
  );
  return { kind: "vectors" as const, vectors, inputTokens: choices.pick([null, 0, 4, 9_000, 2 ** 40]) };
}

function chargesOf({ journal }: PlainCore, from: number): readonly LedgerEntry[] {
  const news = journal.records.slice(from);
  return news.filter(({ type }) => type === "charge").map(({ entry }) => entry);
}
