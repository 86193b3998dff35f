import { collectReply, type Reply, type ReplyEvent } from "../conversation/reply.ts";
import type { VendorReply } from "../dialect.ts";
import { parseCompletion } from "./event.ts";
import { ChatReplyReader } from "./read-reply.ts";

/**
 * Parses a vendor's whole reply, which is read as the only chunk of a stream. Throws an `UpstreamError` when it is no
 * chat completion.
 */
export function parseReply(reply: VendorReply): Reply {
  return collectReply(readWhole(parseCompletion(reply)));
}

function* readWhole(body: Record<string, unknown>): Generator<ReplyEvent> {
  const reader = new ChatReplyReader();
  yield* reader.readEvent(body);
  yield* reader.read("[DONE]");
}
