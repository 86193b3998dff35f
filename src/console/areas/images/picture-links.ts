/**
 * Returns a link as a path, because links may name another origin and the page's policy allows only pictures of its
 * own.
 */
export function ownPath(url: string): string {
  const from = url.indexOf("/files/");
  return from < 0 ? url : url.slice(from);
}

/** Returns the name of the file behind a link. */
export function fileNameOf(url: string): string {
  return url.startsWith("data:") ? "picture" : (/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "picture");
}
