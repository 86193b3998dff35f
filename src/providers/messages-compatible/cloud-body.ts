import { editMembers, removeMembers } from "../../lib/json-edit.ts";

/** The parts of a request that a cloud hosting Claude has in the body instead of headers and address. */
interface CloudBody {
  /** Value of `anthropic_version`. */
  version: string;
  /** Members of the body that the address replaces. */
  addressed: readonly string[];
  /** Beta features, as the header `anthropic-beta` lists them; absent when the cloud accepts the header itself. */
  betas?: string;
}

/**
 * Writes a request of the messages protocol for a cloud (Anthropic's SDKs for Bedrock and Vertex AI, `client`). The
 * rest stays as it is written. The version is always the cloud's own: it accepts all that later ones do, and models
 * that do not know those refuse them by name.
 */
export function writeCloudBody(raw: string, { version, addressed, betas }: CloudBody): string {
  const list = betas === undefined ? [] : betas.split(",").map((beta) => beta.trim());
  const named = list.filter(Boolean);
  return editMembers(removeMembers(raw, addressed), {
    anthropic_version: () => JSON.stringify(version),
    ...(named.length > 0 && { anthropic_beta: () => JSON.stringify(named) }),
  });
}
