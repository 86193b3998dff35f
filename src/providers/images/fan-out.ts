import type { ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { type ModalityTokens, sumVendorCosts } from "../../domain/usage.ts";

/**
 * Makes several images by `count` parallel calls, all under the deadline in `signal`. Returns the images of the
 * successful calls and the sum of their usage, even if the signal ended other calls. Throws when no call succeeded or a
 * call has a bug. Throws a refusal only when every call was refused.
 */
export async function fanOut(count: number, generate: Generate, signal: AbortSignal): Promise<ImageReply> {
  if (count === 1) return await generate(signal, 0);
  const others = new AbortController();
  const shared = AbortSignal.any([signal, others.signal]);
  const calls = Array.from({ length: count }, (_, call) =>
    generate(shared, call).catch((error: unknown) => {
      // An error that is not an `UpstreamError` is a bug or the reason of an aborted signal. Then no reply is used, so
      // the other calls are aborted to save their cost.
      if (!(error instanceof UpstreamError)) others.abort(error);
      throw error;
    }),
  );
  const outcomes = await Promise.allSettled(calls);
  if (others.signal.aborted && !signal.aborted) throw others.signal.reason;
  const replies = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  if (replies.length > 0) return mergeReplies(replies);
  signal.throwIfAborted();
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  throw errors.find((error) => !isRefusal(error)) ?? errors[0];
}

/** Makes one call to the vendor. `call` is its number, beginning at 0. */
export type Generate = (signal: AbortSignal, call: number) => Promise<ImageReply>;

function mergeReplies(replies: readonly ImageReply[]): ImageReply {
  const [first] = replies;
  return {
    images: replies.flatMap(({ images }) => images),
    isCompressed: first?.isCompressed,
    quality: first?.quality,
    background: first?.background,
    usage: sumUsage(replies),
    vendorCost: sumVendorCosts(replies.map(({ vendorCost }) => vendorCost)),
  };
}

/** Sums the usage. Returns undefined when a call did not report its usage, because a partial sum would be too low. */
function sumUsage(replies: readonly ImageReply[]): ImageReply["usage"] {
  const sum = { input: 0, output: 0, total: 0 };
  for (const { usage } of replies) {
    if (!usage) return undefined;
    sum.input += usage.input;
    sum.output += usage.output;
    sum.total += usage.total;
  }
  const inputDetails = sumDetails(replies.map(({ usage }) => usage?.inputDetails));
  const outputDetails = sumDetails(replies.map(({ usage }) => usage?.outputDetails));
  return { ...sum, ...(inputDetails && { inputDetails }), ...(outputDetails && { outputDetails }) };
}

function sumDetails(all: readonly (ModalityTokens | undefined)[]): ModalityTokens | undefined {
  const sum = { text: 0, image: 0 };
  for (const details of all) {
    if (!details) return undefined;
    sum.text += details.text;
    sum.image += details.image;
  }
  return sum;
}

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && error.kind === "refused";
}
