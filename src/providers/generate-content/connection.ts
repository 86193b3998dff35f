import { UpstreamError } from "../../domain/upstream-error.ts";

/** What differs between the addresses that serve `generateContent`. */
export interface GenerateContentConnection {
  baseUrl: string;
  /** URL of a method of a model. */
  urlOf(model: string, method: Method): string;
  /** The body of `countTokens` for a request for text. */
  writeCount(raw: string, model: string): string;
  /** Returns the credential of one call. Throws an `UpstreamError`, or the signal's reason. */
  authenticate(signal: AbortSignal): Promise<Credential>;
  /** Whether the request may name the picture's format; the address for API keys refuses the field. */
  takesOutputOptions: boolean;
  /** Whether every turn must have a role. */
  demandsRoles: boolean;
  /** Of references before base64: of each, and of all in a request. */
  maxReferenceBytes: { each: number; together: number };
}

export type Method = "generateContent" | "streamGenerateContent" | "countTokens" | "batchEmbedContents";

export interface Credential {
  headers: Readonly<Record<string, string>>;
  /** The secret in the headers, which must not appear in an error. */
  secret: string;
  /** Call when the vendor did not accept it, so that the next call gets another. */
  drop?(): void;
}

/** Calls with a credential, which is dropped where the vendor does not accept it. */
export async function withCredential<Result>(
  connection: GenerateContentConnection,
  signal: AbortSignal,
  call: (credential: Credential) => Promise<Result>,
): Promise<Result> {
  const credential = await connection.authenticate(signal);
  try {
    return await call(credential);
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 401) credential.drop?.();
    throw error;
  }
}
