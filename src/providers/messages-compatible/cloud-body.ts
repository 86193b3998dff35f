import { editMembers, removeMembers } from "../../lib/json-edit.ts";

/**
 * The parts of a request that a cloud which hosts Claude expects in the body instead of the headers and the address.
 */
interface CloudBody {
  /** Value of `anthropic_version`. */
  version: string;
  /** Members of the body that the address replaces, and that are therefore removed. */
  addressed: readonly string[];
  /** Beta features, as the header `anthropic-beta` lists them; absent when the cloud accepts that header. */
  betas?: string;
}

/**
 * Writes a request of the messages protocol for a cloud (Anthropic's SDKs for Bedrock and Vertex AI, `client`). The
 * other members stay unchanged. The version is always the cloud's own: it also accepts requests written for later
 * versions, and a model that does not support one of their features refuses the feature by name.
 */
export function writeCloudBody(raw: string, { version, addressed, betas }: CloudBody): string {
  const list = betas === undefined ? [] : betas.split(",").map((beta) => beta.trim());
  const named = list.filter(Boolean);
  return editMembers(removeMembers(raw, addressed), {
    anthropic_version: () => JSON.stringify(version),
    ...(named.length > 0 && { anthropic_beta: () => JSON.stringify(named) }),
  });
}
