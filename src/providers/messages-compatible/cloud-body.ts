import { editMembers, removeMembers } from "../../lib/json-edit.ts";

/** The values that a cloud with Claude reads from the body of a request, and not from headers or address. */
interface CloudBody {
  /** Value of `anthropic_version`. */
  version: string;
  /** Members to remove from the body, because the address contains their values. */
  addressed: readonly string[];
  /** Beta features, as in the header `anthropic-beta`. Absent for none, and when the cloud accepts that header. */
  betas?: string;
}

/**
 * Writes a request of the messages protocol for a cloud (Anthropic's SDKs for Bedrock and Vertex AI, `client`). Members
 * that `CloudBody` does not name stay unchanged. The version is always the cloud's own. With this version, the cloud
 * also accepts requests for later versions. A model that lacks a feature refuses it by name.
 */
export function writeCloudBody(raw: string, { version, addressed, betas }: CloudBody): string {
  const list = betas === undefined ? [] : betas.split(",").map((beta) => beta.trim());
  const named = list.filter(Boolean);
  return editMembers(removeMembers(raw, addressed), {
    anthropic_version: () => JSON.stringify(version),
    ...(named.length > 0 && { anthropic_beta: () => JSON.stringify(named) }),
  });
}
