import { UpstreamError } from "../../domain/upstream-error.ts";
import type { TextCall } from "../../gateway/upstreams.ts";
import type { Classify } from "../transport/http.ts";

/** Matches the vendor's words before values of `anthropic-beta` that are unknown to an account or a cloud. */
const BEFORE_BETAS = /unexpected value\(s\) /i;
const AFTER_BETAS = / for the .?anthropic-beta/i;

/**
 * Returns a classifier that recognizes a refusal of beta features. The gateway removes no beta feature, because fields
 * of the request depend on it. The message lists the features that the caller should leave out. Another target may
 * accept these features.
 */
export function tellingUnknownBetas(classify: Classify, { headers }: Pick<TextCall, "headers">): Classify {
  return (response, bodyText) => {
    const error = classify(response, bodyText);
    const listed = unknownBetas(error.vendorMessage ?? "");
    if (error.kind !== "rejected" || listed === null) return error;
    const named = new Set(listed.split(/[\s,`'"]+/));
    const sent = (headers["anthropic-beta"] ?? "").split(",").map((beta) => beta.trim());
    const unknown = sent.filter((beta) => named.has(beta)).map((beta) => `\`${beta}\``);
    if (unknown.length === 0) return error;
    const publicMessage = `Leave ${unknown.join(", ")} out of the header \`anthropic-beta\`, and the fields that need it: this model does not know it.`;
    const { status, vendorMessage } = error;
    const detail = { status, vendorMessage, publicMessage, param: "anthropic-beta" };
    return new UpstreamError("rejected", error.message, { ...detail, isUnsent: true, isByRequest: true });
  };
}

function unknownBetas(message: string): string | null {
  const before = BEFORE_BETAS.exec(message);
  if (!before) return null;
  const rest = message.slice(before.index + before[0].length);
  const end = rest.search(AFTER_BETAS);
  return end < 0 ? null : rest.slice(0, end);
}
