import { expect } from "bun:test";
import fc from "fast-check";
import {
  collectReply,
  eventsOf,
  type Reply,
  type ReplyEvent,
} from "../../src/dialects/conversation/reply.ts";
import type { Conversation } from "../../src/dialects/conversation/request.ts";
import { TranslatedStream } from "../../src/dialects/conversation/translated-stream.ts";
import type { TextDialect, TextPayload, TextRequest, VendorTerms } from "../../src/dialects/dialect.ts";
import type { TokenUsage, UsagePolicy } from "../../src/domain/usage.ts";
import { frameData, FrameSplitter } from "../../src/lib/sse.ts";
import { conversations, replies } from "./text-arbitraries.ts";

/** A dialect for the tests of translation, with the part of the neutral form that it can express. */
export interface LawfulDialect<Request extends TextRequest = TextRequest> {
  dialect: TextDialect<Request>;
  terms: VendorTerms;
  /** Parses a written request as the dialect's endpoint does. */
  read(raw: string, conversation: Conversation): TextPayload<Request>;
  /** Returns the closest conversation or reply that the dialect can express; null if none is close. */
  sayable(conversation: Conversation): Conversation | null;
  sayableReply(reply: Reply): Reply | null;
  /** Returns the part of a reply that a stream can contain. By default, the whole reply. */
  sayableStream?(reply: Reply): Reply;
}

/** Checks that a conversation is unchanged after it is written for a vendor and read as a caller's request. */
export function expectConversationsToSurvive<Request extends TextRequest>(
  { dialect, terms, read, sayable }: LawfulDialect<Request>,
  numRuns = 300,
): void {
  const property = fc.property(conversations, (any) => {
    const conversation = sayable(any);
    fc.pre(conversation !== null);
    const payload = read(dialect.writeConversation(conversation, terms), conversation);
    // `params` is not compared, because names of fields differ between dialects.
    expect({ ...dialect.readConversation(payload), params: {} }).toEqual({ ...conversation, params: {} });
  });
  fc.assert(property, { numRuns });
}

/** Checks that a complete reply is unchanged after writing and reading. Its usage is the charged usage. */
export function expectRepliesToSurvive<Request extends TextRequest>(
  { dialect, sayableReply }: LawfulDialect<Request>,
  payload: TextPayload<Request>,
  numRuns = 300,
): void {
  const property = fc.property(replies, (any) => {
    const reply = sayableReply(any);
    fc.pre(reply !== null);
    const text = dialect.writeReply(reply, payload, billed(reply));
    expect(plain(dialect.parseReply({ text }))).toEqual(plain(reply));
  });
  fc.assert(property, { numRuns });
}

/** Checks that a stream gives the same reply after writing and reading, and is complete after its end. */
export function expectStreamsToSurvive<Request extends TextRequest>(
  { dialect, sayableReply, sayableStream = (reply) => reply }: LawfulDialect<Request>,
  payload: TextPayload<Request>,
  numRuns = 300,
): void {
  const property = fc.property(replies, fc.infiniteStream(fc.nat(4)), (any, sizes) => {
    const reply = sayableReply(any);
    fc.pre(reply !== null);
    const { body, ending } = writeStream(dialect, payload, reply, sizes);
    const reader = dialect.replyReader();
    const events = [...datasOf(body)].flatMap((data) => [...reader.read(data)]);
    events.push(...[...datasOf(ending)].flatMap((data) => [...reader.read(data)]));
    expect(reader.isComplete).toBe(true);
    expect(plain(collectReply(events))).toEqual(plain(sayableStream(reply)));
  });
  fc.assert(property, { numRuns });
}

/** Checks that callers of any dialect get equal events, whatever the chunks of the vendor's bytes are. */
export function expectCutsNotToMatter<Request extends TextRequest, Other extends TextRequest>(
  vendor: LawfulDialect<Request>,
  vendorPayload: TextPayload<Request>,
  caller: TextDialect<Other>,
  callerPayload: TextPayload<Other>,
  numRuns = 100,
): void {
  const pieces = fc.infiniteStream(
    fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 200 })),
  );
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
  const property = fc.property(replies, pieces, lineEnd, fc.boolean(), (any, sizes, end, isCutShort) => {
    const reply = vendor.sayableReply(any);
    fc.pre(reply !== null);
    const { body, ending } = writeStream(vendor.dialect, vendorPayload, reply, fc.sample(fc.nat(4), 1));
    const bytes = Buffer.from((body + ending).replaceAll("\n", end));
    // The last blank line may be missing.
    const sent = isCutShort ? bytes.subarray(0, bytes.length - end.length) : bytes;
    const whole = eventsFor([sent]);
    expect(eventsFor([...cut(sent, sizes)])).toEqual(whole);
  });
  fc.assert(property, { numRuns });

  function eventsFor(chunks: Iterable<Uint8Array>): string[] {
    const writer = caller.replyWriter(callerPayload);
    const stream = new TranslatedStream(vendor.dialect.replyReader(), writer, REPORTED);
    const output = Array.from(chunks, (chunk) => Buffer.from(stream.push(chunk)));
    return [...datasOf(Buffer.concat([...output, stream.end()]).toString())].map(withoutVariables);
  }
}

/** Charges the usage that the vendor reports. */
const REPORTED: UsagePolicy = ({ report }) => ({
  unit: "token",
  tokens: report?.tokens ?? {},
  source: "upstream",
});

function billed({ report }: Reply): TokenUsage {
  return REPORTED({ report, deliveredTokens: 0, seenUses: {}, isReportFinal: true });
}

function writeStream<Request extends TextRequest>(
  dialect: TextDialect<Request>,
  payload: TextPayload<Request>,
  reply: Reply,
  sizes: Iterable<number>,
): { body: string; ending: string } {
  const writer = dialect.replyWriter(payload);
  let body = "";
  for (const event of inPieces(eventsOf(reply), sizes))
    if (event.type !== "usage") body += writer.write(event);
  return { body, ending: writer.end(billed(reply)) };
}

/** Yields the events with each text cut into several pieces. */
export function* inPieces(events: Iterable<ReplyEvent>, sizes: Iterable<number>): Generator<ReplyEvent> {
  const size = sizes[Symbol.iterator]();
  for (const event of events) {
    if (!("text" in event)) {
      yield event;
      continue;
    }
    let rest = event.text;
    while (rest !== "") {
      const length = Number(size.next().value ?? 0);
      // A surrogate pair is one character and must not be split.
      const piece = length === 0 ? rest : [...rest].slice(0, length).join("");
      yield { ...event, text: piece };
      rest = rest.slice(piece.length);
    }
  }
}

function* datasOf(stream: string): Generator<string> {
  const splitter = new FrameSplitter();
  const frames = [...splitter.push(Buffer.from(stream)), splitter.end()];
  for (const frame of frames) {
    const data = frameData(frame);
    if (data !== null && data !== "") yield data;
  }
}

function* cut(bytes: Uint8Array, sizes: Iterable<number>): Generator<Uint8Array> {
  const size = sizes[Symbol.iterator]();
  let start = 0;
  while (start < bytes.length) {
    const end = start + Number(size.next().value ?? bytes.length);
    yield bytes.slice(start, end);
    start = end;
  }
}

/** Removes ids and times, which are new in each reply. */
function withoutVariables(data: string): string {
  return data
    .replace(/"(?:id|item_id|call_id|responseId)":"[^"]*"/g, '"id":""')
    .replace(/"(?:created|created_at|completed_at)":\d+/g, '"created":0');
}

function plain({ id, parts, finish, report }: Reply): Reply {
  return { id, parts, finish, report };
}
