import type { ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";

/**
 * Makes several images at a vendor that gives one a call: `count` calls at once under the one deadline in `signal`.
 * What succeeded is delivered when at least one did, also when the signal ended the rest; usage is summed. Throws
 * otherwise, a refusal only when every call was refused.
 */
export async function fanOut(count: number, generate: Generate, signal: AbortSignal): Promise<ImageReply> {
  if (count === 1) return await generate(signal);
  const stragglers = new AbortController();
  const shared = AbortSignal.any([signal, stragglers.signal]);
  const calls = Array.from({ length: count }, () =>
    generate(shared).catch((error: unknown) => {
      // A bug is no vendor trouble: nothing of the answer would be used, so the other calls need not be paid for.
      if (!(error instanceof UpstreamError)) stragglers.abort(error);
      throw error;
    }),
  );
  const outcomes = await Promise.allSettled(calls);
  if (stragglers.signal.aborted && !signal.aborted) throw stragglers.signal.reason;
  const replies = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  if (replies.length > 0) return mergeReplies(replies);
  signal.throwIfAborted();
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  throw errors.find((error) => !isRefusal(error)) ?? errors[0];
}

/** One call to the vendor. */
export type Generate = (signal: AbortSignal) => Promise<ImageReply>;

function mergeReplies(replies: readonly ImageReply[]): ImageReply {
  const [first] = replies;
  return {
    images: replies.flatMap(({ images }) => images),
    isCompressed: first?.isCompressed,
    quality: first?.quality,
    background: first?.background,
    usage: sumUsage(replies),
  };
}

/** A sum that leaves calls out would say too little, so it is known only when every call reported. */
function sumUsage(replies: readonly ImageReply[]): ImageReply["usage"] {
  const sum = { input: 0, output: 0, total: 0 };
  for (const { usage } of replies) {
    if (!usage) return undefined;
    sum.input += usage.input;
    sum.output += usage.output;
    sum.total += usage.total;
  }
  return sum;
}

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && error.kind === "refused";
}
