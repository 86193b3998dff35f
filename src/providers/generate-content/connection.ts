/** What differs between the addresses that serve `generateContent`. */
export interface GenerateContentConnection {
  baseUrl: string;
  /** URL of a model's `generateContent`. */
  urlOf(model: string): string;
  /** Returns the credential of one call. Throws an `UpstreamError`, or the signal's reason. */
  authenticate(signal: AbortSignal): Promise<Credential>;
  /** Whether the request may name the picture's format; the address for API keys refuses the field. */
  takesOutputOptions: boolean;
  /** Whether every turn must have a role. */
  demandsRoles: boolean;
  /** Of references before base64: of each, and of all in a request. */
  maxReferenceBytes: { each: number; together: number };
}

export interface Credential {
  headers: Readonly<Record<string, string>>;
  /** The secret in the headers, which must not appear in an error. */
  secret: string;
  /** Call when the vendor did not accept it, so that the next call gets another. */
  drop?(): void;
}
