/** Returns a link as a path: the page's policy allows pictures of its own origin only, and links may name another one. */
export function ownPath(url: string): string {
  const from = url.indexOf("/files/");
  return from < 0 ? url : url.slice(from);
}

/** Returns the name of the file behind a link. */
export function fileNameOf(url: string): string {
  return url.startsWith("data:") ? "picture" : (/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "picture");
}
