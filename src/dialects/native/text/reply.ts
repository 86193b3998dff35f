import { UpstreamError } from "../../../domain/upstream-error.ts";
import { isCorrected, type UsagePolicy } from "../../../domain/usage.ts";
import { editMembers } from "../../../lib/json-edit.ts";
import type { VendorReply, WholeReply } from "../../dialect.ts";
import { observe, WholeText } from "../../sized-text.ts";
import { blockReasonOf, addCandidate, candidatesOf } from "./content.ts";
import { parseEvent, requireEvent } from "./events.ts";
import { correctedUsage, readUsage, showsBilled } from "./usage.ts";

/**
 * Reads a reply that is not a stream. Its text stays as the vendor wrote it but for `modelVersion`, and for
 * `usageMetadata` where other numbers are billed. Throws an `UpstreamError` where it has neither a candidate nor the
 * reason for which the prompt was blocked.
 */
export function readReply(
  { text, parsed }: VendorReply,
  publicModel: string,
  policy: UsagePolicy,
): WholeReply {
  const body = parsed === undefined ? parseEvent(text) : requireEvent(parsed);
  const candidates = candidatesOf(body);
  if (candidates.length === 0 && blockReasonOf(body) === null) {
    throw new UpstreamError("broken", "the response has no candidates");
  }
  const delivered = new WholeText((sized) =>
    candidates.forEach((candidate) => addCandidate(sized, candidate)),
  );
  const usage = policy(observe(readUsage(body["usageMetadata"]), delivered, true));
  const isShown = !isCorrected(usage) && showsBilled(body["usageMetadata"], usage);
  const edited = editMembers(text, {
    ...publicName(body, publicModel),
    ...(!isShown && { usageMetadata: (old) => correctedUsage(old, usage) }),
  });
  return { text: edited, usage };
}

/** The edit that puts the public name of the model where the vendor has its own; none where nothing changes. */
export function publicName(
  { modelVersion }: Record<string, unknown>,
  publicModel: string,
): { modelVersion?: () => string } {
  const isSame = modelVersion === undefined || modelVersion === publicModel;
  return isSame ? {} : { modelVersion: () => JSON.stringify(publicModel) };
}
