import type { SpooledString } from "../long-string.ts";

/** Where a value stands: object keys and array places from the top. */
export type JsonPath = readonly (string | number)[];

/** What `JSON.parse` gives, with long strings on disk. */
export type SpooledJson =
  null | boolean | number | string | SpooledString | SpooledJson[] | { [key: string]: SpooledJson };

export interface JsonSpoolOptions {
  /** Whether the string at a path is an image: a `data:` URL or base64 there is decoded. May throw to refuse. */
  decode(path: JsonPath): boolean;
  /** Strings longer than this go to disk. */
  thresholdBytes: number;
  /** Most bytes of the body as it arrives. */
  maxBodyBytes: number;
  /** Most bytes one long string may take on disk. */
  maxStringBytes: number;
  /** Most long strings. */
  maxStrings: number;
  /** Most bytes of everything that is not a long string. */
  maxSkeletonBytes: number;
  /** Most values, counted by commas and opening brackets. */
  maxValues: number;
  /** Most arrays and objects within each other. */
  maxDepth: number;
}

export type JsonSpoolFault =
  | "invalid_json"
  | "invalid_base64"
  | "duplicate_key"
  | "too_deep"
  /** More values or structure than is sensible for a request. */
  | "too_complex"
  /** One string beyond its limit; the path names it. */
  | "too_large"
  | "body_too_large";

/** The body cannot be read. `path` names the place where that is known, else it is empty. */
export class JsonSpoolError extends Error {
  override readonly name = "JsonSpoolError";
  constructor(
    readonly reason: JsonSpoolFault,
    readonly path: JsonPath = [],
  ) {
    super(`${reason} at ${JSON.stringify(path)}`);
  }
}
