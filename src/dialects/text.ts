import { UpstreamError } from "../domain/upstream-error.ts";
import type { UsagePolicy } from "../domain/usage.ts";
import { JSON_BOUNDS, moreThan } from "../lib/parse-json.ts";
import { exceededBound } from "../lib/json.ts";
import { chat } from "./chat/index.ts";
import { CustomToolsAsFunctions, takesCustomTools } from "./conversation/custom-tools.ts";
import { requireArguments } from "./conversation/call-arguments.ts";
import { EMPTY_REPLY, Emptiness, NOTHING_BILLED } from "./conversation/empty-reply.ts";
import { Delivered, TranslatedStream } from "./conversation/translated-stream.ts";
import { eventsOf, type Reply } from "./conversation/reply.ts";
import type { AssistantPart, Conversation } from "./conversation/request.ts";
import { translatable, untranslatable } from "./conversation/untranslatable.ts";
import { WholeStream } from "./conversation/whole-stream.ts";
import type {
  TextDialect,
  TextPayload,
  TextStream,
  VendorReply,
  VendorTerms,
  WholeReply,
} from "./dialect.ts";
import { messages } from "./messages/index.ts";
import type { TextDialectName } from "./name.ts";
import { native } from "./native/text/index.ts";
import { responses } from "./responses/index.ts";

const DIALECTS: ReadonlyMap<TextDialectName, TextDialect> = new Map<TextDialectName, TextDialect>([
  ["chat", chat],
  ["messages", messages],
  ["responses", responses],
  ["native", native],
]);

export const TEXT_DIALECTS: readonly TextDialectName[] = [...DIALECTS.keys()];

export function textDialect(name: TextDialectName): TextDialect {
  const dialect = DIALECTS.get(name);
  if (!dialect) throw new Error(`no dialect ${name}`);
  return dialect;
}

/** The conversion of a request for one vendor, and of the vendor's reply for the caller. */
interface Passage {
  /** The request's text for the vendor. */
  raw: string;
  /** Names of the caller's hints that the vendor does not get. */
  ignored: readonly string[];
  readReply(reply: VendorReply): WholeReply & { isEmpty: boolean };
  openStream(): TextStream;
  /** Returns the caller's stream for a whole reply that the vendor sent in place of a stream. */
  replayReply(reply: VendorReply): TextStream;
}

const NOTHING_IGNORED: readonly string[] = [];

/** Returns the conversion for a vendor of the caller's dialect. It changes a text only where the gateway must. */
export function forward(
  dialect: TextDialect,
  payload: TextPayload,
  terms: VendorTerms,
  policy: UsagePolicy,
): Passage {
  return new Forwarding(dialect, payload, terms, policy);
}

class Forwarding implements Passage {
  readonly raw: string;
  readonly ignored = NOTHING_IGNORED;
  readonly #dialect: TextDialect;
  readonly #payload: TextPayload;
  readonly #model: string;
  readonly #policy: UsagePolicy;

  constructor(dialect: TextDialect, payload: TextPayload, terms: VendorTerms, policy: UsagePolicy) {
    this.raw = dialect.forVendor(payload, terms);
    this.#dialect = dialect;
    this.#payload = payload;
    this.#model = terms.model.id;
    this.#policy = policy;
  }

  readReply(reply: VendorReply): WholeReply & { isEmpty: boolean } {
    let deliveredTokens = 0;
    const { text, usage } = this.#dialect.readReply(reply, this.#model, (observed) => {
      ({ deliveredTokens } = observed);
      return this.#policy(observed);
    });
    if (deliveredTokens > 0 && !reply.text.includes('"arguments"')) return { text, usage, isEmpty: false };
    const neutral = neutralOf(this.#dialect, reply);
    if (neutral) requireArguments(neutral);
    return { text, usage, isEmpty: deliveredTokens === 0 && neutral !== null && isEmpty(neutral) };
  }

  openStream(): TextStream {
    return this.#dialect.openStream(this.#payload, this.#model, this.#policy);
  }

  replayReply(reply: VendorReply): TextStream {
    // The neutral form has only one choice. Further choices would be billed but not delivered.
    if (this.#payload.parsed.choices > 1)
      throw new UpstreamError("broken", "a whole reply in place of a stream of several choices");
    const writer = this.#dialect.replyWriter(this.#payload);
    return new WholeStream(this.#dialect.parseReply(reply), writer, this.#policy);
  }
}

/** Returns the neutral form of a forwarded reply; null for a reply without a neutral form. */
function neutralOf(dialect: TextDialect, reply: VendorReply): Reply | null {
  try {
    return dialect.parseReply(reply);
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
}

function isEmpty(reply: Reply): boolean {
  const emptiness = new Emptiness();
  for (const event of eventsOf(reply)) emptiness.add(event);
  return emptiness.isEmpty;
}

/** Returns the reply to this request when all targets returned empty replies. */
export function writeEmptyReply(payload: TextPayload): string {
  const dialect = textDialect(payload.dialect);
  if (!payload.parsed.isStream) return dialect.writeReply(EMPTY_REPLY, payload, NOTHING_BILLED);
  const stream = new WholeStream(EMPTY_REPLY, dialect.replyWriter(payload), () => NOTHING_BILLED);
  return Buffer.concat([stream.push(), stream.end()]).toString();
}

/**
 * Returns the conversion for a vendor with another dialect than the caller's. Requests and replies are converted to the
 * neutral form, and from the neutral form to the other dialect.
 */
export function translate(
  ends: Ends,
  payload: TextPayload,
  terms: VendorTerms,
  policy: UsagePolicy,
): Passage {
  const { caller, vendor } = ends;
  const conversation = withTurns(translatable(caller.readConversation(payload)), vendor.name);
  const excess = excessOfCalls(assistantParts(conversation));
  if (excess) throw untranslatable(conversation.params.turns ?? "messages", excess);
  const custom = takesCustomTools(vendor.name, terms.traits)
    ? null
    : new CustomToolsAsFunctions(conversation);
  const parse = (vendorReply: VendorReply): Reply => {
    const reply = vendor.parseReply(vendorReply);
    const excessOfReply = excessOfCalls(reply.parts);
    if (excessOfReply) throw new UpstreamError("broken", excessOfReply);
    return requireArguments(custom ? custom.readReply(reply) : reply);
  };
  const { ownHints, params } = conversation;
  const leftOut = new Set(ownHints);
  const raw = vendor.writeConversation(custom?.conversation ?? conversation, terms, (hint) =>
    leftOut.add(params[hint] ?? hint),
  );
  return {
    raw,
    ignored: [...leftOut],
    readReply(vendorReply) {
      const reply = parse(vendorReply);
      const delivered = new Delivered(policy);
      for (const event of eventsOf(reply)) delivered.add(event);
      const usage = delivered.usage(true);
      const { isEmpty } = delivered;
      return { text: caller.writeReply(reply, payload, usage), usage, isEmpty };
    },
    openStream() {
      const reader = vendor.replyReader();
      return new TranslatedStream(custom?.wrap(reader) ?? reader, caller.replyWriter(payload), policy);
    },
    replayReply: (reply) => new WholeStream(parse(reply), caller.replyWriter(payload), policy),
  };
}

/**
 * Makes the instructions a message of the user if there are no turns, because only chat accepts a request without
 * turns.
 */
function withTurns(conversation: Conversation, vendor: TextDialect["name"]): Conversation {
  const { system, turns } = conversation;
  if (vendor === "chat" || turns.length > 0 || system.length === 0) return conversation;
  return { ...conversation, system: [], turns: [{ role: "user", parts: system }] };
}

interface Ends {
  caller: TextDialect;
  vendor: TextDialect;
}

/** The limits for the arguments of all tool calls together. The depth is checked when each call is parsed. */
const BOUNDS = { ...JSON_BOUNDS, depth: Infinity };
/** Arguments of at most this many characters stay within all limits: a name takes four, other limits are higher. */
const FEW_CHARACTERS = 4 * BOUNDS.names;

/**
 * Returns the problem if the arguments of all tool calls together have too many values, names or escapes; null
 * otherwise. Arguments are JSON inside strings, so the limits of the request or reply do not cover them.
 */
function excessOfCalls(parts: Iterable<AssistantPart>): string | null {
  const texts: string[] = [];
  let characters = 0;
  for (const part of parts) {
    if (part.type !== "tool_call") continue;
    texts.push(part.arguments);
    characters += part.arguments.length;
  }
  if (characters <= FEW_CHARACTERS) return null;
  const exceeded = exceededBound(texts.join(","), BOUNDS);
  return exceeded && `The arguments of its calls have ${moreThan(exceeded)}.`;
}

/** Yields the assistant's parts of all turns. */
export function* assistantParts({ turns }: Conversation): Generator<AssistantPart> {
  for (const turn of turns) if (turn.role === "assistant") yield* turn.parts;
}
