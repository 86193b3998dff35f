import type { Authenticate } from "../transport/credential.ts";

/** The differences between the two addresses that serve `generateContent`. */
export interface GenerateContentConnection {
  baseUrl: string;
  urlOf(model: string, method: Method): string;
  /** Writes the body of a `countTokens` call for a text request. */
  writeCount(raw: string, model: string): string;
  authenticate: Authenticate;
  /** True when the request may contain the format of the picture. The address for API keys refuses this field. */
  takesOutputOptions: boolean;
  /** True when each turn must have a role. */
  demandsRoles: boolean;
  /** Maximum bytes of references before base64: of `each` reference, and of all references of a request `together`. */
  maxReferenceBytes: { each: number; together: number };
}

export type Method = "generateContent" | "streamGenerateContent" | "countTokens" | "batchEmbedContents";
