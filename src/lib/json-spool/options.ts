import { SpooledString } from "./long-string.ts";

/** The path to a value: the object keys and array indexes that lead to it. */
export type JsonPath = readonly (string | number)[];

/** A JSON value in which handles replace long strings. A `Blob` is written as the base64 of its bytes. */
export type StreamedJson = null | boolean | number | string | Handle | StreamedJson[] | StreamedObject;

export interface StreamedObject {
  [key: string]: StreamedJson;
}

export type Handle = Blob | SpooledString;

export function isHandle(value: StreamedJson): value is Handle {
  return value instanceof Blob || value instanceof SpooledString;
}

/** True for a JSON object, which is neither an array, null nor a handle. */
export function isStreamedObject(value: StreamedJson | undefined): value is StreamedObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !isHandle(value);
}

/** True when the value contains a handle. Such a value must be written in pieces. */
export function holdsHandles(value: StreamedJson): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isHandle(value) || Object.values(value).some(holdsHandles);
}

export interface JsonSpoolOptions {
  /**
   * Returns true when the long string at a path is an image. The string is then decoded from a `data:` URL or base64.
   * May throw to refuse the string.
   */
  decode(path: JsonPath): boolean;
  /** String values longer than this go to disk; keys do not. */
  thresholdBytes: number;
  maxBodyBytes: number;
  /** Maximum size of one long string on disk. */
  maxStringBytes: number;
  /** Maximum number of long strings. */
  maxStrings: number;
  /** Maximum size of everything except the long strings. */
  maxSkeletonBytes: number;
  /** Maximum number of values. They are counted by commas and opening brackets. */
  maxValues: number;
  maxDepth: number;
}

type JsonSpoolFault =
  | "invalid_json"
  | "invalid_base64"
  | "duplicate_key"
  | "too_deep"
  /** There are more values, long strings, or bytes outside of long strings than the limits allow. */
  | "too_complex"
  /** A string is longer than its limit. `path` leads to that string. */
  | "too_large"
  | "body_too_large";

/** Thrown for a body that cannot be read. `path` is empty when the position is unknown. */
export class JsonSpoolError extends Error {
  override readonly name = "JsonSpoolError";
  constructor(
    readonly reason: JsonSpoolFault,
    readonly path: JsonPath = [],
  ) {
    super(`${reason} at ${JSON.stringify(path)}`);
  }
}
