/** Where a channel's `generateContent` is and how it is entered: all that tells its two addresses apart. */
export interface GenerateConnection {
  hostname: string;
  /** Address of a model's `generateContent`. */
  urlOf(model: string): string;
  /** Credential of one call. Throws an `UpstreamError`, or the signal's reason. */
  authenticate(signal: AbortSignal): Promise<Credential>;
  /** Whether the picture's format may be chosen; the address for API keys refuses the field. */
  takesOutputOptions: boolean;
  /** Whether every turn must say whose it is. */
  demandsRoles: boolean;
  /** Most bytes of references, before base64: of each, and of all in a request. */
  maxReferenceBytes: { each: number; together: number };
}

export interface Credential {
  headers: Readonly<Record<string, string>>;
  /** The secret in them, which must never be seen in an error. */
  secret: string;
  /** To be told when the vendor did not accept it, so that the next call gets another. */
  drop?(): void;
}
