import { MultipartError } from "./error.ts";

/** The header of a part. Names are UTF-8; a file name is never used as a path. */
export type PartHeader =
  { kind: "text"; name: string } | { kind: "file"; name: string; fileName: string; type: string };

const BOUNDARY = /^[\x20-\x7e]{0,69}[\x21-\x7e]$/;
const MEDIA_TYPE = /^multipart\/form-data[\t ]*;/i;
const BOUNDARY_PARAMETER = /;[\t ]*boundary=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))[\t ]*(?=;|$)/gi;
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:.*[^\t ])?)[\t ]*$/s;
const PARAMETER = /;[\t ]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[\t ]*/gsy;
const EXTENDED_VALUE = /^utf-8'[^']*'(.*)$/i;
const PLAIN_ENCODINGS = new Set(["7bit", "8bit", "binary"]);
const MAX_NAME_CHARACTERS = 200;

/** Reads the boundary of a `multipart/form-data` content type: 1 to 70 characters (RFC 2046, 5.1.1). */
export function readBoundary(contentType: string): string {
  if (contentType.length > 1000 || !MEDIA_TYPE.test(contentType)) throw new MultipartError("malformed");
  const found = [...contentType.matchAll(BOUNDARY_PARAMETER)];
  const boundary = found[0]?.[1]?.replace(/\\(.)/g, "$1") ?? found[0]?.[2];
  if (found.length !== 1 || boundary === undefined || !BOUNDARY.test(boundary))
    throw new MultipartError("malformed");
  return boundary;
}

/** Reads the header lines before a part's content (RFC 7578, 4.2). */
export function readPartHeader(bytes: Buffer): PartHeader {
  const lines = readLines(bytes);
  const encoding = lines.get("content-transfer-encoding");
  if (encoding !== undefined && !PLAIN_ENCODINGS.has(encoding.toLowerCase()))
    throw new MultipartError("malformed");
  const disposition = readDisposition(lines.get("content-disposition") ?? "");
  const type = lines.get("content-type");
  const fileName = disposition.fileName ?? (isText(type) ? undefined : "");
  if (fileName === undefined) return { kind: "text", name: disposition.name };
  return { kind: "file", name: disposition.name, fileName, type: type ?? "application/octet-stream" };
}

function readLines(bytes: Buffer): Map<string, string> {
  const lines = new Map<string, string>();
  for (const line of bytes.toString("utf8").split("\r\n")) {
    const match = FIELD_LINE.exec(line);
    const name = match?.[1]?.toLowerCase();
    if (name === undefined || lines.has(name) || /[\0\r\n]/.test(line)) throw new MultipartError("malformed");
    lines.set(name, match?.[2] ?? "");
  }
  return lines;
}

function readDisposition(value: string): { name: string; fileName: string | undefined } {
  const start = /^form-data[\t ]*/i.exec(value);
  if (!start) throw new MultipartError("malformed");
  const parameters = readParameters(value.slice(start[0].length));
  const name = parameters.get("name");
  if (name === undefined || name.length > MAX_NAME_CHARACTERS) throw new MultipartError("malformed");
  const extended = parameters.get("filename*");
  const fileName = extended === undefined ? undefined : decodeExtended(extended);
  return { name, fileName: fileName ?? parameters.get("filename") };
}

/** Reads parameters. Text between parameters is refused, because one parser may skip it and another may read it. */
function readParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  let read = 0;
  for (const [whole, name = "", quoted, bare] of text.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (parameters.has(key)) throw new MultipartError("malformed");
    parameters.set(key, quoted === undefined ? (bare ?? "") : unquote(quoted));
    read += whole.length;
  }
  if (read !== text.length) throw new MultipartError("malformed");
  return parameters;
}

/**
 * Unquotes a name. Browsers write a quote as %22, curl writes it as \". A backslash before anything but a quote or a
 * backslash is part of the name.
 */
function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, "$1").replace(/%22/g, '"');
}

function decodeExtended(text: string): string | undefined {
  const encoded = EXTENDED_VALUE.exec(text)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function isText(type: string | undefined): boolean {
  return type === undefined || /^(text\/|application\/json\b)/i.test(type);
}
