/**
 * Returns the path of a link to a picture. A link may contain an origin other than the console's, from which the
 * console's content security policy allows no pictures.
 */
export function ownPath(url: string): string {
  const from = url.indexOf("/files/");
  return from < 0 ? url : url.slice(from);
}

/** Returns the name of the file to which a link leads. */
export function fileNameOf(url: string): string {
  return url.startsWith("data:") ? "picture" : (/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "picture");
}
