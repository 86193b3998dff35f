import type { UsagePolicy } from "../domain/usage.ts";
import { Delivered } from "./conversation/delivered.ts";
import { eventsOf } from "./conversation/reply.ts";
import { TranslatedStream } from "./conversation/translated-stream.ts";
import { WholeStream } from "./conversation/whole-stream.ts";
import type {
  TextDialect,
  TextPayload,
  TextStream,
  VendorReply,
  VendorTerms,
  WholeReply,
} from "./dialect.ts";

/** The way of one request to one vendor and back. */
export interface Passage {
  /** The request's text for the vendor. */
  raw: string;
  readReply(reply: VendorReply): WholeReply;
  openStream(): TextStream;
  /** The caller's stream of a reply that the vendor gave whole although a stream was requested. */
  replayReply(reply: VendorReply): TextStream;
}

/** Vendor and caller speak the same dialect: texts pass as they are, but for what the gateway must change. */
export function forward(
  dialect: TextDialect,
  payload: TextPayload,
  terms: VendorTerms,
  policy: UsagePolicy,
): Passage {
  const { id } = terms.model;
  return {
    raw: dialect.forVendor(payload, terms),
    readReply: (reply) => dialect.readReply(reply, id, policy),
    openStream: () => dialect.openStream(payload, id, policy),
    replayReply: (reply) => replay({ caller: dialect, vendor: dialect }, payload, reply, policy),
  };
}

/** The caller speaks `caller`, the vendor `vendor`: requests and replies pass through the neutral form. */
export function translate(
  ends: Ends,
  payload: TextPayload,
  terms: VendorTerms,
  policy: UsagePolicy,
): Passage {
  const { caller, vendor } = ends;
  const conversation = caller.readConversation(payload);
  return {
    raw: vendor.writeConversation(conversation, terms),
    readReply(vendorReply) {
      const reply = vendor.parseReply(vendorReply);
      const delivered = new Delivered(policy);
      for (const event of eventsOf(reply)) delivered.add(event);
      const usage = delivered.usage(true);
      return { text: caller.writeReply(reply, payload, usage), usage };
    },
    openStream: () => new TranslatedStream(vendor.replyReader(), caller.replyWriter(payload), policy),
    replayReply: (reply) => replay(ends, payload, reply, policy),
  };
}

/** The dialects at the two ends of a request. */
interface Ends {
  caller: TextDialect;
  vendor: TextDialect;
}

function replay(
  { caller, vendor }: Ends,
  payload: TextPayload,
  reply: VendorReply,
  policy: UsagePolicy,
): TextStream {
  return new WholeStream(vendor.parseReply(reply), caller.replyWriter(payload), policy);
}
