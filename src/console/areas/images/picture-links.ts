/**
 * Returns the path of a link. A link may contain another origin, but the page's policy allows only pictures of its own.
 */
export function ownPath(url: string): string {
  const from = url.indexOf("/files/");
  return from < 0 ? url : url.slice(from);
}

/** Returns the name of the file to which a link leads. */
export function fileNameOf(url: string): string {
  return url.startsWith("data:") ? "picture" : (/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "picture");
}
