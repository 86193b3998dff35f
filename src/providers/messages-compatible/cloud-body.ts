import { editMembers, removeMembers } from "../../lib/json-edit.ts";

/** What a cloud that hosts Claude has in the body, and what in the address. */
interface CloudBody {
  /** Value of `anthropic_version`. */
  version: string;
  /** Members that the address says instead. */
  addressed: readonly string[];
  /** Features in trial, as the header `anthropic-beta` lists them; absent where the cloud takes the header itself. */
  betas?: string;
}

/**
 * A request of the messages protocol for a cloud (Anthropic's SDKs for Bedrock and Vertex AI, `client`). Everything
 * else stays as it is written. The version is always the cloud's own: it takes all that later ones take, and models
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
